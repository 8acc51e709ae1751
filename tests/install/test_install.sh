#!/bin/sh
# test_install.sh SOURCE BUILD CC CXX NO_LIBRARY - installs to a temporary prefix, moves it, and builds
# programs against it: every example shared and static through pkg-config, against libplimsoll-core
# alone where the core's headers are enough, one of each by find_package, and C++ with all headers.
# NO_LIBRARY is a preload that hides libraries from dlopen().
set -eu

source=$1 build=$2 cc=$3 cxx=$4
# A space in the path: a prefix that only works without one is broken.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll install.XXXXXX")
# LD_PRELOAD is a list with spaces between: its file needs a path without.
no_library=$(mktemp "${TMPDIR:-/tmp}/plimsoll-no-library.XXXXXX")
trap 'rm -rf "$scratch" "$no_library"' EXIT
cp "$5" "$no_library"

fail() {
    echo "test_install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/first" >/dev/null

# --- a packager's install, and its end

DESTDIR="$scratch/stage" cmake --install "$build" --prefix /opt/plimsoll >/dev/null
test -z "$(ls "$scratch/stage" | grep -vx opt)" || fail "DESTDIR is not respected"
share="$scratch/stage/opt/plimsoll/share"
for file in LICENSE NOTICE docs/commands/inspect.md; do
    test -s "$share/doc/plimsoll/$file" || fail "$file is not installed"
done
for file in man/man1/plimsoll.1 man/man1/plimsoll-tune.1 bash-completion/completions/plimsoll \
    zsh/site-functions/_plimsoll fish/vendor_completions.d/plimsoll.fish; do
    test -s "$share/$file" || fail "$file is not installed"
done
touch "$share/man/man1/other.1" # of another program
DESTDIR="$scratch/stage" cmake -D PREFIX=/opt/plimsoll -P "$source/cmake/uninstall.cmake" >/dev/null 2>&1
test "$(cd "$scratch/stage" && find . -type f -o -name '*plimsoll*' ! -path ./opt/plimsoll)" = \
    ./opt/plimsoll/share/man/man1/other.1 ||
    fail "uninstall leaves $(find "$scratch/stage" -type f -o -type l)"
! DESTDIR="$scratch/stage" cmake -D PREFIX=/opt/plimsoll -P "$source/cmake/uninstall.cmake" \
    >/dev/null 2>&1 || fail "uninstall of nothing succeeds"

mv "$scratch/first" "$scratch/moved here"
prefix="$scratch/moved here"
libdir=$(dirname "$(dirname "$(find "$prefix" -name plimsoll.pc)")")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"

test "$(pkg-config --modversion plimsoll)" = "$("$prefix/bin/plimsoll" --version | tr -dc 0-9.)" ||
    fail "plimsoll.pc and the command have different versions"

# Where no library that it was built with is installed to be compiled with.
PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --cflags --libs plimsoll >/dev/null ||
    fail "plimsoll.pc wants those of other libraries"

# --- the Python package, which finds the agent from where it lies

test "$(cd / && PYTHONPATH="$prefix/lib/plimsoll/rehearse/python" python3 -B -c 'import plimsoll, plimsoll.auto
from plimsoll_agent import blackbox
print(blackbox.run_folder() == plimsoll.arm())')" = True || fail "the Python package does not find the agent"
test -e "$prefix/lib/plimsoll/rehearse/python/plimsoll/py.typed" || fail "py.typed is not installed"

# --- what the libraries need, and what they show

needs() { # needs <library>: the libraries it names, in order
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | grep -v '^ld-linux' | sort | tr '\n' ' '
}
case $(needs "$libdir/libplimsoll-core.so") in
"libc.so.6 libm.so.6 " | "libc.so.6 ") ;;
*) fail "libplimsoll-core.so needs $(needs "$libdir/libplimsoll-core.so")" ;;
esac
for library in plimsoll-core plimsoll; do
    readelf -d "$libdir/lib$library.so" | grep -q "SONAME.*\[lib$library.so.0\]" ||
        fail "lib$library.so has another soname"
    foreign=$(nm -D --defined-only "$libdir/lib$library.so" | awk '{ print $3 }' |
        grep -vE '^(plim_|PLIMSOLL_)' || true)
    test -z "$foreign" || fail "lib$library.so shows $foreign"
done
# The promised names, by the headers, and those of libplimsoll alone.
promised() { # promised <header>...: names of functions
    sed -n 's/.*[ *]\(plim_[a-z0-9_]*\)(.*/\1/p' "$@" | sort -u
}
private=$(nm -D --defined-only "$libdir/libplimsoll-core.so" | sed -n 's/.* \(.*\)@@PLIMSOLL_PRIVATE.*/\1/p')
test -n "$private" || fail "libplimsoll-core.so has no private version"
promised "$prefix"/include/plimsoll/*.h >"$scratch/promised"
for name in $private; do
    ! grep -qx "$name" "$scratch/promised" || fail "$name is promised and private"
done

# --- programs

check() { # check <program>: it runs; without a file an example says how it is used and gives 2
    status=0
    "$@" >"$scratch/out" 2>&1 || status=$?
    if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
        cat "$scratch/out" >&2
        fail "$* gave $status"
    fi
}
# pkg-config escapes the space in the prefix, which only eval undoes.
flags() { # flags <package> [--static]: to link with
    if [ $# -eq 1 ]; then
        pkg-config --libs "$1"
    else
        pkg-config --static --libs "$1" |
            sed 's/-lplimsoll-core/-l:libplimsoll-core.a/g; s/-lplimsoll /-l:libplimsoll.a /g'
    fi
}
link() { # link <compiler> <object> <program> <package> [--static]
    linker=$1 object=$2 program=$3
    shift 3
    eval "set -- $(flags "$@")"
    "$linker" "$object" -o "$program" "$@" -pthread
    check "$program"
}
is_core() { # is_core <example>: it includes headers of the core alone
    ! sed -n 's/#include <plimsoll\/\(.*\)\.h>/\1/p' "$1" | grep -qvxE \
        'addr|api|mem|status|release|event|history|timeline|settings|device|finding|verdict|allocator|stats|recorder'
}

count=0
eval "set -- $(pkg-config --cflags plimsoll)"
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    "$cc" -std=c17 -Wall -Wextra -Werror "$@" -c "$example" -o "$scratch/$name.o"
done
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    packages=plimsoll
    if is_core "$example"; then
        packages="plimsoll plimsoll-core"
    fi
    for package in $packages; do
        link "$cc" "$scratch/$name.o" "$scratch/$name-$package" "$package"
        link "$cc" "$scratch/$name.o" "$scratch/$name-$package-static" "$package" --static
        count=$((count + 2))
    done
done

# --- C++, all headers

{
    for header in "$prefix"/include/plimsoll/*.h; do
        echo "#include <plimsoll/$(basename "$header")>"
    done
    echo 'int main() { plim_history_destroy(nullptr); return plim_gpu_count() == 0; }'
} >"$scratch/all.cpp"
eval "set -- $(pkg-config --cflags plimsoll)"
"$cxx" -std=c++17 -Wall -Wextra -Werror "$@" -c "$scratch/all.cpp" -o "$scratch/all.o"
link "$cxx" "$scratch/all.o" "$scratch/all" plimsoll
link "$cxx" "$scratch/all.o" "$scratch/all-static" plimsoll --static

# --- without the libraries that the core can do without

events() { # events <words>...: the line of core_recording, without the file's name
    "$@" "$scratch/run.plim" | sed 's/.*: //'
}
core="$scratch/core_recording-plimsoll-core"
test "$(events "$core")" = "$(events env LD_PRELOAD="$no_library" \
    PLIM_NO_LIBRARIES="libdw.so.1 libzstd.so.1" "$core")" ||
    fail "a recording without libzstd and libdw has other events"
"$core" "$scratch/packed.plim" >/dev/null
test "$(stat -c %s "$scratch/packed.plim")" -lt "$(stat -c %s "$scratch/run.plim")" ||
    fail "a recording with libzstd is not smaller"

# --- find_package

mkdir "$scratch/consumer"
cp "$source/examples/core_recording.c" "$source/examples/what_if.c" "$scratch/consumer/"
cat >"$scratch/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(Plimsoll 0.1 REQUIRED COMPONENTS core)
if(TARGET plimsoll::plimsoll)
    message(FATAL_ERROR "component core brings the whole library")
endif()
add_executable(core core_recording.c)
target_link_libraries(core PRIVATE plimsoll::core)
add_executable(core-static core_recording.c)
target_link_libraries(core-static PRIVATE plimsoll::core_static)
find_package(plimsoll 0.1 REQUIRED)
add_executable(whole what_if.c)
target_link_libraries(whole PRIVATE plimsoll::plimsoll)
add_executable(whole-static what_if.c)
target_link_libraries(whole-static PRIVATE plimsoll::plimsoll_static)
END
cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -G Ninja \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/consumer/build" >/dev/null
for program in core core-static whole whole-static; do
    check "$scratch/consumer/build/$program"
done
case $(needs "$scratch/consumer/build/core") in
*libplimsoll.so*) fail "a program of the core needs the whole library" ;;
esac
echo "$count programs of examples, C++ and find_package against an installed and moved tree"
