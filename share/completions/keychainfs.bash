# bash completion for keychainfs(1). The program finds the candidates; nothing that it prints is executed or expanded.
_keychainfs() {
    # Splitting is all that happens to the output: no file name expansion. A here-string could write names to /tmp, and reading a
    # pipe takes ten times as long.
    local - IFS=$'\n' lines
    set -o noglob
    # The part of the line up to the cursor, and the part of it that is replaced: bash splits words at = and : too.
    lines=$("$1" complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2> /dev/null)
    COMPREPLY=($lines)
    # The byte 1 represents a newline in a name.
    [[ $lines != *$'\1'* ]] || COMPREPLY=("${COMPREPLY[@]//$'\1'/$'\n'}")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[/=,] ]] || compopt -o nospace
}
complete -o filenames -F _keychainfs keychainfs
