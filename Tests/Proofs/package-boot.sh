#!/bin/bash
# A boot of the proof `package`, as root inside the container. Its argument is the boot, first or second; /proof holds the packages,
# README.md and the scripts, and takes the report.
set -uo pipefail
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
held=0

ok() { held=$((held + 1)); printf 'ok: %s\n' "$*"; }
bad() { printf 'FAIL: %s\n' "$*"; exit 1; }
# must TITLE COMMAND…: a case that holds if the command succeeds.
must() {
    local title=$1
    shift
    "$@" > /tmp/said 2>&1 || { tail -n 30 /tmp/said; bad "$title: $*"; }
    ok "$title"
}
# must_not TITLE COMMAND…
must_not() {
    local title=$1
    shift
    ! "$@" > /tmp/said 2>&1 || { tail -n 30 /tmp/said; bad "$title: $*"; }
    ok "$title"
}
# refused TITLE MESSAGE COMMAND…: fails with that message, and for no other reason.
refused() {
    local title=$1 message=$2
    shift 2
    ! "$@" > /tmp/said 2>&1 && grep -q "$message" /tmp/said || { tail -n 30 /tmp/said; bad "$title: $*"; }
    ok "$title"
}
# equal TITLE WANTED SEEN
equal() { [ "$2" = "$3" ] || bad "$1: wanted '$2', got '$3'"; ok "$1"; }
# await SECONDS COMMAND…: until it succeeds.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@" > /dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}
apt_get() { apt-get install -y -q --allow-downgrades "$@" < /dev/null; }
# as_alice COMMAND…: in the session of the ordinary user.
as_alice() {
    runuser -u alice -- env -i HOME=/home/alice USER=alice PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 \
        XDG_RUNTIME_DIR="/run/user/$(id -u alice)" KEYCHAINFS_PASSPHRASE_FILE=/home/alice/passphrase "$@"
}
K=/home/alice/Keychain
# typed SHELL TEXT: what the program receives after a tab (complete.py).
typed() {
    local log=/tmp/typed
    rm -rf "$log"; install -d -o alice "$log" "$log/bin"
    printf '%s\n' '#!/bin/bash' \
        'if [ "$1" = complete ]; then /usr/bin/keychainfs "$@"; printf x >> "$LOG.asked"; exit; fi' \
        'printf "[%s]" "$@" > "$LOG.new"; mv "$LOG.new" "$LOG"' > "$log/bin/keychainfs"
    chmod 755 "$log/bin/keychainfs"
    as_alice LOG="$log/log" python3 -I /proof/complete.py "$1" "" "$log/bin:/usr/bin:/bin" "$log/log" /home/alice "$2"
}
mounted() { grep -q " $1 fuse\.keychainfs " /proc/self/mounts; }
not_mounted() { ! mounted "$1"; }
pid_of() { keychainfs_status "$1" | sed -n 's/.*"pid" *: *\([0-9]*\).*/\1/p'; }
keychainfs_status() { as_alice keychainfs status --json "$1" | tr ',' '\n'; }
keychains() { sha256sum /home/alice/.local/share/keychainfs/*.keychain /home/alice/.local/state/keychainfs/* /etc/keychainfs/* \
    /var/lib/keychainfs/*; }
pages() { as_alice man -P cat "$1" "$2"; }

install_it() {
    refused "the package of the other release" 'Depends: libfuse3-[34].* but it is not installable' apt_get /proof/keychainfs-other.deb
    must "installs with what it depends on" apt_get /proof/keychainfs.deb
    must_not "the login script is disabled" grep -r keychainfs /etc/pam.d
    must_not "no unit is enabled" sh -c 'find /etc/systemd -name "keychainfs*" | grep .'
    equal "the mode of the program" 711 "$(stat -c %a /usr/bin/keychainfs)"
    refused "an ordinary user cannot read the program" 'Permission denied' as_alice cat /usr/bin/keychainfs
    local link
    for link in keychainfs-askpass git-credential-keychainfs docker-credential-keychainfs; do
        equal "the link $link" /usr/bin/keychainfs "$(readlink -f "/usr/bin/$link")"
    done
    equal "a traced start of another program" readable "$(as_alice python3 -I /proof/traced_start.py /usr/bin/true)"
    equal "a traced start of the program" refused "$(as_alice python3 -I /proof/traced_start.py /usr/bin/keychainfs --version)"
    local page
    for page in 1 5; do must "man $page keychainfs" pages "$page" keychainfs; done
    must "man 8 mount.keychainfs" pages 8 mount.keychainfs
    must "the manual page names every command" sh -c 'man -P cat keychainfs | grep -q "slot remove"'
    local shell
    equal "units are valid" "" "$(systemd-analyze verify /lib/systemd/system/keychainfs@.service 2>&1 | grep keychainfs)"
    equal "user units are valid" "" \
        "$(systemd-analyze --user verify /usr/lib/systemd/user/keychainfs@.service 2>&1 | grep keychainfs)"
    for shell in bash zsh fish; do
        equal "$shell completes a command" '[unmount]' "$(typed "$shell" 'keychainfs unm')"
    done
}

tour() {
    must "an ordinary user creates a keychain" as_alice keychainfs create
    must "an ordinary user mounts it" as_alice keychainfs mount
    awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' /proof/README.md > /proof/tour.sh
    equal "lines of the tour" 10 "$(wc -l < /proof/tour.sh)"
    # The item cannot be read while it is locked.
    sed -i '/^keychainfs lock$/{n;s/^cat .*/! & || exit 9/}' /proof/tour.sh
    must "the tour of the README" as_alice sh -c 'bash -euo pipefail /proof/tour.sh > /tmp/shown 2>&1'
    must "it shows the lock" grep -q 'Required key not available' /tmp/shown
    for shell in bash zsh fish; do
        equal "$shell completes an item" "[show][$K/generic-passwords/example.com/alice]" \
            "$(typed "$shell" "keychainfs show $K/generic-passwords/example.com/a")"
    done
    must "doctor finds a way to mount" as_alice keychainfs doctor
}

upgrade() {
    local pid secret
    secret=$(as_alice cat "$K/generic-passwords/example.com/alice")
    pid=$(pid_of "$K")
    # Opened before the upgrade, read after it.
    as_alice sh -c "exec 3< '$K/generic-passwords/example.com/alice'; touch /home/alice/opened
        while [ ! -e /home/alice/upgraded ]; do sleep 0.1; done; cat <&3 > /home/alice/read" &
    must "a reader has the item open" await 10 test -e /home/alice/opened
    must "an upgrade while it is mounted" apt_get /proof/keychainfs-upgrade.deb
    must "the daemon runs the replaced program" sh -c "readlink /proc/$pid/exe | grep -q deleted"
    touch /home/alice/upgraded; wait
    equal "an item that was open" "$secret" "$(cat /home/alice/read)"
    equal "an item opened later" "$secret" "$(as_alice cat "$K/generic-passwords/example.com/alice")"
    equal "the same daemon" "$pid" "$(pid_of "$K")"
    must "a write" as_alice sh -c "echo new > $K/generic-passwords/example.com/bob"
    must "the new program locks" as_alice keychainfs lock
    refused "a locked item" 'Required key not available' as_alice cat "$K/generic-passwords/example.com/bob"
    must "the new program unlocks" as_alice keychainfs unlock
    equal "after it" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must "the new program unmounts" as_alice keychainfs unmount
    must "the replaced daemon ends" await 10 sh -c "! kill -0 $pid"
    must "check finds no fault" as_alice keychainfs check
}

# protected COMMAND…: every measure is in force in the daemon whose status that prints.
protected() {
    "$@" > /tmp/status
    must "the daemon is protected" python3 -I -c '
import json
measures = json.load(open("/tmp/status"))["hardening"]
missing = [name for name, holds in measures.items() if holds is False and name != "swapActive"]
assert measures["memoryLocked"] and not missing, missing'
}

# dead_mount OWNER PLACE SYSTEMCTL: kills the daemon and its watchdog at the same time, which leaves their mount;
# systemd starts the unit again. The test mounts it again, because the kernel would answer requests for a directory from its cache.
dead_mount() {
    local owner=$1 place=$2 pids
    shift 2
    must "a fresh mount" "$@" restart
    mapfile -t pids < <(pgrep -u "$owner" '^keychainfs')
    # Stopped first, so that the guard does not act between the two signals.
    kill -STOP "${pids[@]}"
    kill -KILL "${pids[@]}"
    refused "its mount is dead" 'Transport endpoint is not connected' runuser -u "$owner" -- stat --file-system "$place"
    must "systemd replaces it" await 30 runuser -u "$owner" -- stat --file-system "$place"
}

user_login() { as_alice systemctl --user "$1" keychainfs@login; }
system_app() { systemctl "$1" keychainfs@app; }

# A program that crashes at each start: systemd ends that after some attempts.
crash_loop() {
    local directory=/home/alice/.config/systemd/user/keychainfs@crash.service.d
    as_alice mkdir -p "$directory"
    as_alice sh -c "printf '[Service]\nExecStart=\nExecStart=/bin/sh -c \"kill -SEGV \$\$\$\$\"\n' > '$directory/crash.conf'"
    as_alice systemctl --user daemon-reload
    must_not "a program that crashes" as_alice systemctl --user start keychainfs@crash
    crash_property() { as_alice systemctl --user show --property="$1" --value keychainfs@crash; }
    has_failed() { [ "$(crash_property ActiveState)" = failed ]; }
    must "is not started without end" await 30 has_failed
    sleep 4
    equal "and not again" failed "$(crash_property ActiveState)"
    equal "after a signal" signal "$(crash_property Result)"
    must "some attempts" test "$(crash_property NRestarts)" -ge 2 -a "$(crash_property NRestarts)" -le 5
    rm -r "$directory"
    as_alice systemctl --user daemon-reload
}

user_unit() {
    loginctl enable-linger alice
    must "the session of the user" await 30 test -S "/run/user/$(id -u alice)/bus"
    must "the user unit starts" as_alice systemctl --user enable --now keychainfs@login
    must "its log is in the journal" await 10 sh -c "journalctl --output=cat _UID=$(id -u alice) | grep -q '^mounted'"
    must_not "with a second time in each line" sh -c "journalctl --output=cat _UID=$(id -u alice) | grep -E '^(<[0-7]>|20[0-9]{2}-)'"
    must "it is mounted, locked" sh -c "runuser -u alice -- keychainfs status --quiet $K; [ \$? = 23 ]"
    must "unlock" as_alice keychainfs unlock
    equal "an item" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must "a downgrade while the unit runs" apt_get /proof/keychainfs.deb
    equal "an item after it" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must "the unit restarts with the new program" as_alice systemctl --user restart keychainfs@login
    refused "locked again" 'Required key not available' as_alice cat "$K/generic-passwords/example.com/bob"
    protected as_alice keychainfs status --json
    dead_mount alice "$K" user_login
    crash_loop
    must "the unit stops" as_alice systemctl --user stop keychainfs@login
    must "and leaves no mount" not_mounted "$K"
}

system_unit() {
    # The commands of the page.
    awk '/^## A keychain for services/ { here = 1 } here && /^```$/ && inside { exit } inside; here && /^```console$/ { inside = 1 }' \
        /proof/services-and-login.md > /proof/services.sh
    equal "lines of the page" 4 "$(wc -l < /proof/services.sh)"
    must "the commands of the page" bash -euo pipefail /proof/services.sh
    must_not "without a passphrase the unit fails" systemctl start keychainfs@absent
    must_not "and mounts nothing" mounted /run/keychainfs/absent
    local item=/run/keychainfs/app/generic-passwords/web/key pid
    mkdir "${item%/*}"
    printf secret > "$item"
    refused "other users cannot read it" 'Permission denied' as_alice cat "$item"
    chmod 0711 "${item%/*}"
    refused "nor in a directory that they may enter" 'Permission denied' as_alice cat "$item"
    chown www-data "$item"
    equal "a service of another user" secret "$(systemd-run --quiet --pipe --wait --uid=www-data cat "$item")"
    protected keychainfs status --json /run/keychainfs/app
    pid=$(systemctl show --property MainPID --value keychainfs@app)
    kill -KILL "$pid"
    must "systemd starts a killed daemon again" await 30 sh -c "grep -qx secret '$item'"
    must_not "as another process" test "$pid" = "$(systemctl show --property MainPID --value keychainfs@app)"
    dead_mount root /run/keychainfs/app system_app
    must "and serves" await 10 cat "$item"
    equal "an item after it" secret "$(cat "$item")"
    encrypted_credential "$item"
}

# The passphrase as an encrypted credential, as the page says; here with the key of the host, for there is no TPM.
encrypted_credential() {
    systemd-creds encrypt --with-key=host --name=passphrase /etc/keychainfs/app.passphrase /etc/keychainfs/app.cred
    mv /etc/keychainfs/app.passphrase /etc/keychainfs/away
    mkdir -p /etc/systemd/system/keychainfs@app.service.d
    awk '/^## A keychain for services/ { here = 1 } /^## fstab/ { here = 0 } here && /^```ini$/ { inside = 1; next }
        /^```$/ { inside = 0 } inside' /proof/services-and-login.md \
        > /etc/systemd/system/keychainfs@app.service.d/override.conf
    systemctl daemon-reload
    # The proof starts the unit more often than systemd permits: five times in ten seconds.
    systemctl reset-failed keychainfs@app
    must "the unit starts with an encrypted credential" systemctl restart keychainfs@app
    equal "an item" secret "$(cat "$1")"
    mv /etc/keychainfs/away /etc/keychainfs/app.passphrase
    rm -r /etc/systemd/system/keychainfs@app.service.d
    systemctl daemon-reload
    systemctl reset-failed keychainfs@app
    must "and without it" systemctl restart keychainfs@app
}

pam() {
    must "the login script can be enabled" pam-auth-update --enable keychainfs
    must "it is in common-auth" grep -q keychainfs-login /etc/pam.d/common-auth
    must "an upgrade" apt_get /proof/keychainfs-upgrade.deb
    must "keeps it enabled" grep -q keychainfs-login /etc/pam.d/common-auth
    equal "the manager has read the changed unit" no "$(systemctl show --property NeedDaemonReload --value keychainfs@app)"
    must "a login mounts the keychain" sh -c 'printf "correct horse\n" | pamtester login alice authenticate'
    equal "unlocked" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must_not "a wrong password is refused" sh -c 'printf "wrong\n" | pamtester login alice authenticate'
    must "unmounts" as_alice keychainfs unmount
    must "the login script can be disabled" pam-auth-update --disable keychainfs
    must_not "it is not in common-auth" grep -q keychainfs-login /etc/pam.d/common-auth
    must "a login without it" sh -c 'printf "correct horse\n" | pamtester login alice authenticate'
    must "mounts nothing" not_mounted "$K"
    must "enabled again" pam-auth-update --enable keychainfs
}

# logins SCENARIO: of package_logins.py.
logins() {
    python3 -I /proof/package_logins.py "$1" > /tmp/logins 2>&1 || { cat /tmp/logins; bad "logins: $1"; }
    cat /tmp/logins
    held=$((held + $(grep -c '^ok: ' /tmp/logins)))
}

lingering_logins() {
    pam-auth-update --enable keychainfs
    logins lingering
    as_alice systemctl --user disable --now keychainfs@login > /dev/null 2>&1
    must "the unit stops" await 10 not_mounted "$K"
}

# The manager starts units when it starts, and ends some seconds after the last session.
manager_ends() { must "the user's manager ends" await 60 sh -c '! test -e "/run/user/$(id -u alice)"'; }

other_logins() {
    loginctl disable-linger alice
    manager_ends
    logins sessions
    systemctl --global enable keychainfs@login > /dev/null 2>&1
    manager_ends
    logins unit
    pam-auth-update --disable keychainfs
    manager_ends
    logins unit
    systemctl --global disable keychainfs@login > /dev/null 2>&1
    loginctl enable-linger alice
    must "the session of the user" await 30 test -S "/run/user/$(id -u alice)/bus"
}

helper() {
    local type keychain=/srv/app.keychain
    mkdir -p /srv/app
    must "a keychain of root" keychainfs create --keychain "$keychain" --passphrase-file /etc/keychainfs/app.passphrase
    for type in keychainfs fuse.keychainfs; do
        printf '%s /srv/app %s nofail,passphrase_file=/etc/keychainfs/app.passphrase 0 0\n' "$keychain" "$type" > /etc/fstab
        must "fstab, type $type" mount /srv/app
        must "mounted" mounted /srv/app
        must "umount" umount /srv/app
    done
}

removal() {
    local before
    must "a mount while the package is removed" as_alice keychainfs mount
    must "removal" apt-get remove -y -q keychainfs
    equal "the mount serves on" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must_not "removal takes it from the logins" grep -r keychainfs /etc/pam.d
    must "a login works" sh -c 'printf "correct horse\n" | pamtester login alice authenticate'
    must "fusermount3 unmounts" as_alice fusermount3 -u "$K"
    must "the daemon ends" await 10 sh -c '! pgrep -u alice keychainfs'
    must "the system unit's daemon stops" systemctl stop keychainfs@app
    must_not "removal leaves nothing to purge" dpkg-query --status keychainfs
    must "installs again" apt_get /proof/keychainfs.deb
    must "mounts again" as_alice keychainfs mount
    equal "the item is there" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must "unmounts" as_alice keychainfs unmount
    before=$(keychains)
    must "purge" apt-get purge -y -q keychainfs
    equal "purge changes no keychain" "$before" "$(keychains)"
    must_not "no file is left" sh -c 'find /usr /etc/pam.d /lib /var/lib/pam /var/lib/dpkg/info -name "*keychainfs*" | grep .'
}

installed_files() { find /usr /etc ! -type d | sort; }

# Systems on which the program of the archive cannot work. In a mount namespace, because only its view of the system is another one.
refused_archives() {
    local install='exec /tmp/keychainfs-*/install'
    refused "without fusermount3" 'no fusermount3. Install the package fuse3' \
        unshare -m sh -c "mount --bind /dev/null /usr/bin/fusermount3; $install"
    refused "with libfuse 2 only" 'no fusermount3, and fusermount is of libfuse 2' \
        unshare -m sh -c "mount -t tmpfs none /usr/local/sbin; cp /bin/true /usr/local/sbin/fusermount
            mount --bind /dev/null /usr/bin/fusermount3; $install"
    # A system that consists of busybox and musl. Called ldd, the loader of musl is its ldd.
    mkdir -p /tmp/musl/bin /tmp/musl/lib
    cp /bin/busybox /tmp/musl/bin
    cp -L /lib/ld-musl-*.so.1 /tmp/musl/lib
    ln -s /lib/"$(basename /lib/ld-musl-*.so.1)" /tmp/musl/bin/ldd
    cp -r /tmp/keychainfs-* /tmp/musl/archive
    refused "with musl" 'the C library musl; the program needs glibc' \
        chroot /tmp/musl /bin/busybox env PATH=/bin /bin/busybox sh -c '/bin/busybox --install -s /bin && exec /bin/sh /archive/install'
    refused "with an old C library" 'does not start here; it needs glibc' \
        unshare -m sh -c "printf '#!/bin/sh\necho version GLIBC_ABI_DT_RELR not found; exit 1\n' > /tmp/old; chmod 755 /tmp/old
            mount --bind /tmp/old /tmp/keychainfs-*/bin/keychainfs; $install"
}

archive() {
    local before
    tar -C /tmp -xf /proof/keychainfs.tar.xz
    must "tools for a system with another C library" apt_get busybox-static musl
    before=$(installed_files)
    refused_archives
    equal "and nothing was installed" "$before" "$(installed_files)"
    must "the archive installs" sh -c '/tmp/keychainfs-*/install'
    equal "into /usr/local" /usr/local/bin/keychainfs "$(as_alice sh -c 'command -v keychainfs')"
    must "it mounts" as_alice keychainfs mount
    must "over a running mount" sh -c '/tmp/keychainfs-*/install'
    equal "an item" new "$(as_alice cat "$K/generic-passwords/example.com/bob")"
    must "it unmounts" as_alice keychainfs unmount
    must "the user unit finds the program" as_alice systemctl --user daemon-reload
    must "and starts" as_alice systemctl --user start keychainfs@login
    must "and stops" as_alice systemctl --user stop keychainfs@login
    must "the archive uninstalls" sh -c '/tmp/keychainfs-*/install --uninstall'
    equal "no file is left" "$before" "$(installed_files)"
    must_not "another argument is refused" sh -c '/tmp/keychainfs-*/install --prefix'
}

case $1 in
first)
    useradd --create-home --shell /bin/bash --groups sudo alice
    printf 'alice:correct horse\n' | chpasswd
    install -m 600 -o alice /dev/null /home/alice/passphrase
    printf 'correct horse\n' > /home/alice/passphrase
    install_it
    tour
    upgrade
    user_unit
    system_unit
    ;;
second)
    must "the system unit is mounted at boot" await 30 mounted /run/keychainfs/app
    equal "and unlocked" secret "$(cat /run/keychainfs/app/generic-passwords/web/key)"
    must "the user unit is mounted at boot" await 30 mounted "$K"
    lingering_logins
    other_logins
    pam
    helper
    removal
    archive
    ;;
esac
printf 'cases: %s\n' "$held" > /proof/result
