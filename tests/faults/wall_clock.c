/* Loaded before libc (LD_PRELOAD): the wall clock is so many seconds fast as the file $LAPWING_FAULTS_CLOCK says, or slow where
 * there is a minus; it can be set while the process runs. Monotonic clocks are as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long fast_s(void) {
    const char *file = getenv("LAPWING_FAULTS_CLOCK");
    char text[32] = "";
    int fd = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 ? atoll(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += fast_s();
    return result;
}
