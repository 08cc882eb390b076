#!/usr/bin/python3
"""A separate system bus with a mocked logind (python-dbusmock), for tests.

Usage: login.py COMMAND DIR [ARGUMENT…]; DIR contains the socket and the process IDs.
  bus DIR              starts the bus; its address is unix:path=DIR/socket
  logind DIR           starts logind on it
  stop DIR             ends both
  session DIR ID UID   creates a session of that user
  sleep DIR true|false announces that the system is about to sleep, or awake again
  lock DIR ID          sends the session the signal Lock
  hint DIR ID true     sets the session's LockedHint
  refuse DIR           makes logind refuse inhibitors from now on
  forge DIR ID         sends every signal of logind and of the bus from another program to each connection
  inhibitors DIR       prints the number of delay inhibitors of sleep
"""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dbus
import dbus.bus
import dbus.lowlevel

NAME, MANAGER = "org.freedesktop.login1", "/org/freedesktop/login1"
MOCK = "org.freedesktop.DBus.Mock"
CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>
"""


def start(directory, name, command, environment=None):
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    (directory / name).write_text(str(process.pid))


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("login.py: it does not come up")
        time.sleep(0.02)


def bus(directory):
    return dbus.bus.BusConnection(f"unix:path={directory}/socket")


def start_bus(directory):
    (directory / "bus.conf").write_text(CONFIGURATION.format(socket=directory / "socket"))
    (directory / "socket").unlink(missing_ok=True)
    start(directory, "bus.pid", ["dbus-daemon", "--nofork", f"--config-file={directory}/bus.conf"])
    wait_until((directory / "socket").exists)


def start_logind(directory):
    environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={directory}/socket")
    start(directory, "logind.pid", [sys.executable, "-m", "dbusmock", "--system", "--template", "logind"], environment)
    wait_until(lambda: bus(directory).name_has_owner(NAME))


def stop(directory):
    for name in ["logind.pid", "bus.pid"]:
        try:
            os.kill(int((directory / name).read_text()), signal.SIGKILL)
            (directory / name).unlink()
        except (FileNotFoundError, ProcessLookupError):
            pass


def mocked(directory, path=MANAGER):
    return bus(directory).get_object(NAME, path)


def session(directory, identifier):
    return mocked(directory, f"{MANAGER}/session/{identifier}")


def forge(directory, session_path):
    """Directed signals, which the policy of a system bus allows to every user."""
    connection = bus(directory)
    signals = [
        (MANAGER, NAME + ".Manager", "PrepareForSleep", "b", [True]),
        (session_path, NAME + ".Session", "Lock", "", []),
        (session_path, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
         [NAME + ".Session", {"LockedHint": True}, []]),
        ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss", [NAME, ":1.1", ""]),
        ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
         [NAME, "", connection.get_unique_name()]),
    ]
    for name in filter(lambda name: name.startswith(":"), connection.list_names()):
        for path, interface, member, signature, values in signals * 2:
            message = dbus.lowlevel.SignalMessage(path, interface, member)
            message.set_destination(name)
            if signature:
                message.append(*values, signature=signature)
            connection.send_message(message)
    # The bus has delivered them when it answers.
    connection.name_has_owner(NAME)


def main():
    command, directory, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    if command == "bus":
        start_bus(directory)
    elif command == "logind":
        start_logind(directory)
    elif command == "stop":
        stop(directory)
    elif command == "session":
        mocked(directory).AddSession(arguments[0], "seat0", dbus.UInt32(int(arguments[1])), "somebody", True,
                                     dbus_interface=MOCK)
    elif command == "sleep":
        begins = arguments[0] == "true"
        mocked(directory).EmitSignal(NAME + ".Manager", "PrepareForSleep", "b", [begins], dbus_interface=MOCK)
    elif command == "lock":
        session(directory, arguments[0]).EmitSignal(NAME + ".Session", "Lock", "", dbus.Array([], signature="v"),
                                                    dbus_interface=MOCK)
    elif command == "hint":
        session(directory, arguments[0]).UpdateProperties(NAME + ".Session", {"LockedHint": arguments[1] == "true"},
                                                          dbus_interface=MOCK)
    elif command == "refuse":
        denied = "raise dbus.exceptions.DBusException('no', name='org.freedesktop.DBus.Error.AccessDenied')"
        mocked(directory).AddMethod(NAME + ".Manager", "Inhibit", "ssss", "h", denied, dbus_interface=MOCK)
    elif command == "forge":
        forge(directory, f"{MANAGER}/session/{arguments[0]}")
    elif command == "inhibitors":
        found = mocked(directory).ListInhibitors(dbus_interface=NAME + ".Manager")
        print(sum(entry[0] == "sleep" and entry[3] == "delay" for entry in found))
    else:
        sys.exit(__doc__)


main()
