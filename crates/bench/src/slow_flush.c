/* Makes every flush take at least SLOW_FLUSH_US microseconds, as on a disk without a volatile
 * cache in front of it. The flush itself is done as always. For LD_PRELOAD. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int slowly(long call, int fd) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const char *pause = getenv("SLOW_FLUSH_US");
    long nanoseconds = end.tv_nsec + (pause ? atol(pause) * 1000 : 0);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    int result = syscall(call, fd);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
    return result;
}

int fsync(int fd) { return slowly(SYS_fsync, fd); }
int fdatasync(int fd) { return slowly(SYS_fdatasync, fd); }
