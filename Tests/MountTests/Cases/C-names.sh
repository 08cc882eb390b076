# C: a name of a file that is empty, or '-', is refused (64) in every option and argument of every command, and no file is created. Only
# the options of passphrases read standard input. './-' is a file. C11-names has the other names that no keychain can have.
. "${0%/*}/lib.sh"
create_keychain; mkdir "$CASE_DIR/empty"; cd "$CASE_DIR/empty"
KEYCHAINFS_MOUNT="$CASE_DIR/nowhere" python3 -I - "$KEYCHAINFS" <<'PY' || fail "a name was accepted"
import json, os, subprocess, sys
program = sys.argv[1]
dump = json.loads(subprocess.run([program, "--experimental-dump-help"], capture_output=True, check=True).stdout)
tried = 0

def refused(words, name):
    global tried
    tried += 1
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wanted = {"-": ("standard input", "'-' cannot be the name of a keychain"), "": ("empty",)}[name]
    assert done.returncode == 64 and any(text in done.stderr for text in wanted) and not done.stdout, (words, done)
    assert os.listdir(".") == [], (words, os.listdir("."))

def is_file(argument):
    kind = argument.get("completionKind", {})
    return "file" in kind or "directory" in kind or argument.get("valueName") in ("source", "mount-point")

def walk(command, path):
    arguments = command.get("arguments", [])
    for argument in filter(is_file, arguments if path != ["guard"] else []):
        reads_input = argument["valueName"].endswith("passphrase-file")
        others = [each for each in arguments if each["kind"] == "positional" and each is not argument and not each["isOptional"]]
        for name in () if reads_input else ("", "-"):
            if argument["kind"] == "option":
                words = ["--" + argument["preferredName"]["name"], name] + ["1"] * len(others)
            else:
                before = [each for each in arguments if each["kind"] == "positional"]
                before = before[:before.index(argument)]
                words = ["1"] * len(before) + [name] + ["1"] * len([each for each in others if each not in before])
            refused(path + words, name)
    for each in command.get("subcommands", []):
        walk(each, path + [each["commandName"]])

walk(dump["command"], [])
assert tried >= 78, tried
PY
"$KEYCHAINFS" backup ./- > /dev/null; "$KEYCHAINFS" backup --verify ./- > /dev/null; rm ./-
"$KEYCHAINFS" check --passphrase-file - < "$PASSPHRASE" > /dev/null
