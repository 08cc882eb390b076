# fish completion for keychainfs(1). The program finds the candidates; nothing that it prints is executed or expanded.
function __keychainfs_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command $words[1] complete fish $words "$current" 2>/dev/null
end
complete -c keychainfs -f -a '(__keychainfs_complete | string split0)'
