#!/bin/sh
# test_install.sh SOURCE BUILD CC - installs to a temporary prefix, moves it, and builds every
# example against it: through pkg-config (shared, and static) and through CMake's find_package.
set -eu

source=$1 build=$2 cc=$3
# A space in the path: a prefix that only works without one is broken.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/moved here"
prefix="$scratch/moved here"
libdir=$(dirname "$(dirname "$(find "$prefix" -name plimsoll.pc)")")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"

"$prefix/bin/plimsoll" --version >/dev/null
test "$(pkg-config --modversion plimsoll)" = "$("$prefix/bin/plimsoll" --version | tr -dc 0-9.)"

check() { # check <program>: it runs; without a file an example says how it is used and gives 2
    status=0
    "$@" >"$scratch/out" 2>&1 || status=$?
    if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
        echo "$* gave $status" >&2
        cat "$scratch/out" >&2
        exit 1
    fi
}

mkdir "$scratch/consumer"
{
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(consumer C)'
    echo 'find_package(plimsoll 0.1 REQUIRED)'
} >"$scratch/consumer/CMakeLists.txt"

count=0
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    # pkg-config escapes the space in the prefix, which only eval undoes.
    eval "set -- $(pkg-config --cflags --libs plimsoll)"
    "$cc" -std=c17 -Wall -Wextra -Werror "$example" -o "$scratch/$name" "$@"
    check "$scratch/$name"
    eval "set -- $(pkg-config --static --cflags --libs plimsoll | sed 's/-lplimsoll/-l:libplimsoll.a/')"
    "$cc" -std=c17 "$example" -o "$scratch/$name-static" "$@"
    check "$scratch/$name-static"
    cp "$example" "$scratch/consumer/"
    {
        echo "add_executable($name $name.c)"
        echo "target_link_libraries($name PRIVATE plimsoll::plimsoll)"
        echo "add_executable($name-static $name.c)"
        echo "target_link_libraries($name-static PRIVATE plimsoll::plimsoll_static)"
    } >>"$scratch/consumer/CMakeLists.txt"
    count=$((count + 1))
done

cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -G Ninja \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/consumer/build" >/dev/null
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    check "$scratch/consumer/build/$name"
    check "$scratch/consumer/build/$name-static"
done
echo "$count examples built in four ways against an installed and moved tree"
