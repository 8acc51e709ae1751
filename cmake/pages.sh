#!/bin/sh
# pages.sh PLIMSOLL OUTPUT - man pages, and completions for bash, zsh and fish, made of what
# `plimsoll --help` and `plimsoll COMMAND --help` print: those come from the rows of options that the
# commands read, so nothing here can say anything else.
set -eu

plimsoll=$1 output=$2
mkdir -p "$output"
version=$("$plimsoll" --version)

"$plimsoll" --help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1\t\2/p' >"$output/commands.tsv"

# options.tsv: command, option, its argument or nothing, what it does
: >"$output/options.tsv"
while IFS='	' read -r command _; do
    "$plimsoll" "$command" --help | awk -v command="$command" '
        function flush() {
            if (option != "") printf "%s\t%s\t%s\t%s\n", command, option, argument, text
            option = ""
        }
        /^ +(-[a-z], )?--[a-z]/ {
            flush()
            sub(/^ +(-[a-z], )?--/, "")
            split($1, parts, "=")
            option = parts[1]
            argument = substr($1, length(option) + 2)
            text = $0
            sub(/^[^ ]+ */, "", text)
            next
        }
        option != "" && /^                    / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
        { flush() }
        END { flush() }' >>"$output/options.tsv"
done <"$output/commands.tsv"

# --- man pages

roff() { # roff: text on standard input, as lines that roff prints as they are
    sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'\'']\)/\\\&\1/'
}
heading() { # heading <page> <what it is, in a few words>
    printf '.TH %s 1 "" "%s" "Plimsoll"\n.SH NAME\n' "$(echo "$1" | tr a-z A-Z)" "$version"
    printf '%s \\- %s\n' "$(echo "$1" | roff)" "$(echo "$2" | roff)"
}
see_also() { # see_also <page>...
    printf '.SH SEE ALSO\n'
    separator=
    for page in "$@"; do
        printf '%s.BR %s (1)' "$separator" "$(echo "$page" | roff)"
        separator=',
'
    done
    echo
}

while IFS='	' read -r command summary; do
    {
        heading "plimsoll-$command" "$summary"
        "$plimsoll" "$command" --help | roff | awk '
            NR == 1 { sub(/^Usage: /, ""); print ".SH SYNOPSIS\n.B " $0 "\n.SH DESCRIPTION"; next }
            /^ +(\\-[a-z], )?\\-\\-[a-z]/ {
                if (!is_options) print ".SH OPTIONS"
                is_options = 1
                sub(/^ +/, "")
                name = $0
                sub(/  .*/, "", name) # ends at two blanks, or at one where the column is full
                if (name == $0 && match($0, /^[^ ]+ /)) name = substr($0, 1, RLENGTH - 1)
                text = substr($0, length(name) + 1)
                sub(/^ +/, "", text)
                print ".TP\n.B " name "\n" text
                next
            }
            /^Examples:$/ { print ".SH EXAMPLES"; is_examples = 1; is_options = 0; next }
            /^$/ { is_options = 0; if (is_examples++ > 1) { print ".SH EXIT STATUS"; is_examples = 0 }; next }
            is_examples && /^  [^ ]/ { is_examples = 2; sub(/^ +/, ""); print ".TP\n.B " $0; next }
            { sub(/^ +/, ""); sub(/^Exit status: /, ""); if ($0 != "") print }'
        see_also plimsoll
    } >"$output/plimsoll-$command.1"
done <"$output/commands.tsv"

{
    heading plimsoll "GPU memory, explained"
    printf '.SH SYNOPSIS\n.B plimsoll COMMAND [OPTION...] FILE...\n.SH DESCRIPTION\n'
    "$plimsoll" --help | roff | awk '/^$/ { exit } NR > 1'
    printf '.SH COMMANDS\n'
    while IFS='	' read -r command summary; do
        printf '.TP\n.B %s\n%s\n' "$command" "$(echo "$summary" | roff)"
    done <"$output/commands.tsv"
    # shellcheck disable=SC2046 # names of commands are words
    see_also $(sed 's/^\([a-z]*\).*/plimsoll-\1/' "$output/commands.tsv")
} >"$output/plimsoll.1"

# --- completions

{
    echo "# Completion of plimsoll for bash. Generated."
    echo "_plimsoll()"
    echo "{"
    echo '    local word=${COMP_WORDS[COMP_CWORD]} command= options= i'
    echo '    for ((i = 1; i < COMP_CWORD; i++)); do'
    echo '        [[ ${COMP_WORDS[i]} == -- ]] && return # a command of the user follows'
    echo '        [[ -z $command && ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]}'
    echo '    done'
    echo '    case $command in'
    printf "    '') options='%s help --help --version' ;;\n" \
        "$(cut -f 1 "$output/commands.tsv" | tr '\n' ' ' | sed 's/ $//')"
    printf "    help) options='%s' ;;\n" \
        "$(cut -f 1 "$output/commands.tsv" | tr '\n' ' ' | sed 's/ $//')"
    awk -F '\t' '
        $1 != command { if (command != "") print list "\x27 ;;"; command = $1; list = "    " $1 ") options=\x27"; blank = "" }
        { list = list blank "--" $2 ($3 == "" ? "" : "="); blank = " " }
        END { print list "\x27 ;;" }' "$output/options.tsv"
    echo '    esac'
    echo '    [[ -n $command && $command != help && $word != -* ]] && return # files'
    echo '    COMPREPLY=($(compgen -W "$options" -- "$word"))'
    echo '    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace'
    echo "}"
    echo "complete -o default -F _plimsoll plimsoll"
} >"$output/plimsoll.bash"

{
    echo "#compdef plimsoll"
    echo "# Completion of plimsoll for zsh. Generated."
    echo "_plimsoll() {"
    echo "    local -a commands"
    echo "    commands=("
    awk -F '\t' '{ gsub(/\x27/, "\x27\\\x27\x27", $2); gsub(/:/, "\\:", $2); printf "        \x27%s:%s\x27\n", $1, $2 }' "$output/commands.tsv"
    echo "    )"
    echo "    if ((CURRENT == 2)); then"
    echo "        _describe command commands"
    echo "        return"
    echo "    fi"
    echo '    case $words[2] in'
    awk -F '\t' '
        function quoted(text) {
            gsub(/\\/, "\\\\", text)
            gsub(/\[/, "\\[", text)
            gsub(/\]/, "\\]", text)
            gsub(/:/, "\\:", text)
            gsub(/\x27/, "\x27\\\x27\x27", text)
            return text
        }
        $1 != command {
            if (command != "") print "            \x27*:file:_files\x27\n        ;;"
            command = $1
            print "    " $1 ")\n        _arguments \\"
        }
        { printf "            \x27--%s%s[%s]%s\x27 \\\n", $2, $3 == "" ? "" : "=", quoted($4), $3 == "" ? "" : ":" quoted($3) ":_files" }
        END { print "            \x27*:file:_files\x27\n        ;;" }' "$output/options.tsv"
    echo "    esac"
    echo "}"
    echo '_plimsoll "$@"'
} >"$output/_plimsoll"

{
    echo "# Completion of plimsoll for fish. Generated."
    awk -F '\t' '{ gsub(/\x27/, "\\\x27", $2); printf "complete -c plimsoll -n __fish_use_subcommand -f -a %s -d \x27%s\x27\n", $1, $2 }' "$output/commands.tsv"
    awk -F '\t' '{
        gsub(/\\/, "\\\\", $4)
        gsub(/\x27/, "\\\x27", $4)
        printf "complete -c plimsoll -n \x27__fish_seen_subcommand_from %s\x27 -l %s%s -d \x27%s\x27\n", $1, $2, $3 == "" ? "" : " -r", $4
    }' "$output/options.tsv"
} >"$output/plimsoll.fish"
