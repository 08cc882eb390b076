/* logind on the system bus, through libsystemd's sd-bus.

   libsystemd is loaded when it is first needed, never linked: few mounts use it, it brings five libraries more into a process
   that holds keys, and there are systems without it. sd-bus's functions are variadic: Swift could not call them. */
#include "linux_support.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define BUS "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define SERVICE "org.freedesktop.login1"
#define MANAGER_PATH "/org/freedesktop/login1"
#define MANAGER SERVICE ".Manager"
#define SESSION SERVICE ".Session"
#define SESSIONS_PATH MANAGER_PATH "/session"

/* Every function of libsystemd that is called here. */
#define FUNCTIONS(F) \
    F(sd_bus_open_system) F(sd_bus_new) F(sd_bus_set_address) F(sd_bus_set_bus_client) F(sd_bus_start) \
    F(sd_bus_close_unref) F(sd_bus_set_method_call_timeout) F(sd_bus_add_match) F(sd_bus_process) \
    F(sd_bus_get_fd) F(sd_bus_get_events) F(sd_bus_call_method) F(sd_bus_get_property_trivial) F(sd_bus_get_property) \
    F(sd_bus_message_read) F(sd_bus_message_enter_container) F(sd_bus_message_exit_container) F(sd_bus_message_skip) \
    F(sd_bus_message_get_path) F(sd_bus_message_get_sender) F(sd_bus_message_unref)

#define DECLARE(name) __typeof__(name) *name;
static struct { FUNCTIONS(DECLARE) } library;
static int library_error;

static void load_library(void)
{
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        library_error = -ENOPKG;
        return;
    }
#define FIND(name) \
    if (!(library.name = (__typeof__(name) *)dlsym(handle, #name))) library_error = -ENOPKG;
    FUNCTIONS(FIND)
}

/* The maximum number of queued events. Further ones are dropped: each of them would cause the same lock. */
#define EVENT_LIMIT 16

/* The longest name of the D-Bus specification, and a NUL. */
#define NAME_SIZE 256

struct login_bus {
    sd_bus *bus;
    /* logind's unique name; empty without logind. */
    char owner[NAME_SIZE];
    int events[EVENT_LIMIT];
    int count;
};

static void add_event(login_bus *bus, int kind)
{
    if (bus->count < EVENT_LIMIT)
        bus->events[bus->count++] = kind;
}

static int open_bus(const char *address, sd_bus **bus)
{
    int error;

    if (!address)
        return library.sd_bus_open_system(bus);
    error = library.sd_bus_new(bus);
    if (error >= 0)
        error = library.sd_bus_set_address(*bus, address);
    if (error >= 0)
        error = library.sd_bus_set_bus_client(*bus, 1);
    return error < 0 ? error : library.sd_bus_start(*bus);
}

int login_bus_open(const char *address, uint64_t timeout, login_bus **result)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    login_bus *bus;
    int error;

    pthread_once(&once, load_library);
    if (library_error)
        return library_error;
    bus = calloc(1, sizeof(*bus));
    if (!bus)
        return -ENOMEM;
    error = open_bus(address, &bus->bus);
    if (error >= 0)
        error = library.sd_bus_set_method_call_timeout(bus->bus, timeout);
    if (error < 0) {
        login_bus_close(bus);
        return error;
    }
    *result = bus;
    return 0;
}

void login_bus_close(login_bus *bus)
{
    if (bus->bus)
        library.sd_bus_close_unref(bus->bus);
    free(bus);
}

static void set_owner(login_bus *bus, const char *name)
{
    strncpy(bus->owner, name, NAME_SIZE - 1);
}

/* Any program may send any signal to this connection: the policy of the system bus allows it if the signal names a destination.
   The bus writes the sender's unique name into each message. The sender in a match rule proves nothing: sd-bus cannot compare
   logind's well-known name with a unique one, and accepts any. */
static bool is_from(sd_bus_message *message, const char *sender)
{
    const char *name = library.sd_bus_message_get_sender(message);

    return name && *sender && strcmp(name, sender) == 0;
}

static bool is_from_logind(sd_bus_message *message, login_bus *bus)
{
    return is_from(message, bus->owner);
}

/* Returns whether the session belongs to this user. A session whose user cannot be queried counts as the user's. */
static bool is_own(login_bus *bus, const char *session)
{
    sd_bus_message *reply = NULL;
    uint32_t user = 0;
    bool own = true;

    if (library.sd_bus_get_property(bus->bus, SERVICE, session, SESSION, "User", NULL, &reply, "(uo)") >= 0 &&
        library.sd_bus_message_read(reply, "(uo)", &user, NULL) >= 0)
        own = user == getuid();
    library.sd_bus_message_unref(reply);
    return own;
}

static int on_sleep(sd_bus_message *message, void *context, sd_bus_error *error)
{
    int begins = 0;

    (void)error;
    if (is_from_logind(message, context) && library.sd_bus_message_read(message, "b", &begins) >= 0)
        add_event(context, begins ? login_bus_sleep : login_bus_wake);
    return 0;
}

static int on_lock(sd_bus_message *message, void *context, sd_bus_error *error)
{
    const char *path = library.sd_bus_message_get_path(message);

    (void)error;
    if (is_from_logind(message, context) && path && is_own(context, path))
        add_event(context, login_bus_session_lock);
    return 0;
}

/* sa{sv}as: whether LockedHint is among the changes, and true. */
static bool tells_lock(sd_bus_message *message)
{
    const char *name;
    int locked = 0;

    if (library.sd_bus_message_skip(message, "s") < 0 || library.sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
        return false;
    while (library.sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        if (library.sd_bus_message_read(message, "s", &name) < 0)
            return false;
        if (strcmp(name, "LockedHint") == 0)
            return library.sd_bus_message_read(message, "v", "b", &locked) >= 0 && locked;
        if (library.sd_bus_message_skip(message, "v") < 0 || library.sd_bus_message_exit_container(message) < 0)
            return false;
    }
    return false;
}

static int on_properties(sd_bus_message *message, void *context, sd_bus_error *error)
{
    return tells_lock(message) ? on_lock(message, context, error) : 0;
}

static int on_owner(sd_bus_message *message, void *context, sd_bus_error *error)
{
    const char *name, *before, *after;

    (void)error;
    if (!is_from(message, BUS) || library.sd_bus_message_read(message, "sss", &name, &before, &after) < 0 ||
        strcmp(name, SERVICE) != 0)
        return 0;
    set_owner(context, after);
    add_event(context, *after ? login_bus_owner_new : login_bus_owner_lost);
    return 0;
}

/* Changes after this arrive as signals. */
static int ask_owner(login_bus *bus)
{
    sd_bus_message *reply = NULL;
    const char *name;
    int error = library.sd_bus_call_method(bus->bus, BUS, BUS_PATH, BUS, "GetNameOwner", NULL, &reply, "s", SERVICE);

    if (error >= 0)
        error = library.sd_bus_message_read(reply, "s", &name);
    if (error >= 0)
        set_owner(bus, name);
    library.sd_bus_message_unref(reply);
    return error;
}

static int match(login_bus *bus, const char *rule, sd_bus_message_handler_t handler)
{
    return library.sd_bus_add_match(bus->bus, NULL, rule, handler, bus);
}

int login_bus_watch(login_bus *bus, bool sleep, bool sessions)
{
    int error = match(bus,
        "type='signal',sender='" BUS "',path='" BUS_PATH "',interface='" BUS "',member='NameOwnerChanged',arg0='" SERVICE "'", on_owner);

    if (error >= 0 && sleep)
        error = match(bus,
            "type='signal',sender='" SERVICE "',path='" MANAGER_PATH "',interface='" MANAGER "',member='PrepareForSleep'",
            on_sleep);
    if (error >= 0 && sessions)
        error = match(bus,
            "type='signal',sender='" SERVICE "',path_namespace='" SESSIONS_PATH "',interface='" SESSION "',member='Lock'",
            on_lock);
    if (error >= 0 && sessions)
        error = match(bus,
            "type='signal',sender='" SERVICE "',path_namespace='" SESSIONS_PATH "',"
            "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0='" SESSION "'", on_properties);
    /* A match does not say whether there is a logind. A call starts one. */
    if (error >= 0)
        error = login_bus_is_preparing(bus);
    return error < 0 ? error : ask_owner(bus);
}

int login_bus_inhibit_sleep(login_bus *bus, const char *who, const char *why)
{
    sd_bus_message *reply = NULL;
    int descriptor = -1;
    int error = library.sd_bus_call_method(
        bus->bus, SERVICE, MANAGER_PATH, MANAGER, "Inhibit", NULL, &reply, "ssss", "sleep", who, why, "delay");

    if (error >= 0)
        error = library.sd_bus_message_read(reply, "h", &descriptor);
    /* The message owns the received descriptor. */
    if (error >= 0) {
        descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        error = descriptor < 0 ? -errno : descriptor;
    }
    library.sd_bus_message_unref(reply);
    return error;
}

int login_bus_is_preparing(login_bus *bus)
{
    int preparing = 0;
    int error = library.sd_bus_get_property_trivial(
        bus->bus, SERVICE, MANAGER_PATH, MANAGER, "PreparingForSleep", NULL, 'b', &preparing);

    return error < 0 ? error : preparing != 0;
}

static int session_is_locked(login_bus *bus, const char *session)
{
    int locked = 0;

    /* A session that has just ended is not locked. */
    if (library.sd_bus_get_property_trivial(bus->bus, SERVICE, session, SESSION, "LockedHint", NULL, 'b', &locked) < 0)
        return 0;
    return locked != 0;
}

int login_bus_is_locked(login_bus *bus)
{
    sd_bus_message *reply = NULL;
    const char *identifier, *name, *seat, *path;
    uint32_t user;
    int locked = 0;
    int error = library.sd_bus_call_method(
        bus->bus, SERVICE, MANAGER_PATH, MANAGER, "ListSessions", NULL, &reply, NULL);

    if (error >= 0)
        error = library.sd_bus_message_enter_container(reply, 'a', "(susso)");
    while (error >= 0 && !locked &&
           (error = library.sd_bus_message_read(reply, "(susso)", &identifier, &user, &name, &seat, &path)) > 0)
        locked = user == getuid() && session_is_locked(bus, path);
    library.sd_bus_message_unref(reply);
    return error < 0 ? error : locked;
}

int login_bus_descriptor(login_bus *bus)
{
    return library.sd_bus_get_fd(bus->bus);
}

int login_bus_poll_events(login_bus *bus)
{
    return library.sd_bus_get_events(bus->bus);
}

int login_bus_next(login_bus *bus)
{
    int result = 1;

    while (!bus->count && result > 0)
        result = library.sd_bus_process(bus->bus, NULL);
    if (!bus->count)
        return result;
    result = bus->events[0];
    memmove(bus->events, bus->events + 1, (size_t)--bus->count * sizeof(bus->events[0]));
    return result;
}
