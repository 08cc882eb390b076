/* Reports to the thread sanitizer the locks that the library of Swift's `Mutex` acquires and releases under contention: the
   slow paths of `_MutexHandle`. The library itself is not built with the sanitizer. Linked only into builds with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *);
extern void __tsan_release(void *);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*lock_function)(uint32_t, SELF);
typedef SWIFT bool (*try_lock_function)(SELF);
typedef SWIFT void (*unlock_function)(SELF);

static lock_function real_lock;
static try_lock_function real_try_lock;
static unlock_function real_unlock;

__attribute__((constructor)) static void find(void)
{
    real_lock = (lock_function)dlsym(RTLD_NEXT, LOCK);
    real_try_lock = (try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK);
    real_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void annotated_lock(uint32_t thread, SELF handle) __asm__(LOCK);
SWIFT void annotated_lock(uint32_t thread, SELF handle)
{
    real_lock(thread, handle);
    __tsan_acquire(handle);
}

SWIFT bool annotated_try_lock(SELF handle) __asm__(TRY_LOCK);
SWIFT bool annotated_try_lock(SELF handle)
{
    bool taken = real_try_lock(handle);
    if (taken)
        __tsan_acquire(handle);
    return taken;
}

SWIFT void annotated_unlock(SELF handle) __asm__(UNLOCK);
SWIFT void annotated_unlock(SELF handle)
{
    __tsan_release(handle);
    real_unlock(handle);
}
