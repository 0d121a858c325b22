/* Loaded before libc (LD_PRELOAD): writes down what a power cut would take back.
 *
 * Everything goes to the files of $LAPWING_POWER_CUT_OF as ever. Before each change a record in $LAPWING_POWER_CUT/changes says
 * how to undo it, and what a rename or an unlink removes keeps a second name there. `power.py` reads the list when the process
 * is gone, and takes back what no sync has made durable. A process that is killed may not have come from the record to the
 * change: where a rename or an unlink has left everything as it was, there is nothing to undo.
 *
 *   kind         inode  one                    two              three     rest
 *   1 new        its    -                      -                -         path
 *   2 write      its    offset                 bytes            old size  the old bytes
 *   3 length     its    old size               new size         -         the bytes that were cut off
 *   4 sync       its    records before this place are durable
 *   5 rename     its    second name of what it replaced, or 0   -         from, NUL, to
 *   6 unlink     its    second name            -                -         path
 *   7 sync of a folder  as 4                                              its path
 *
 * Only what goes through these functions of libc is seen; what stdio writes is taken to be durable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NEW = 1, WRITE, LENGTH, SYNC, RENAME, UNLINK, SYNC_NAMES };
enum { NOTHING, A_FILE, A_FOLDER };
#define MAGIC 0x4C415057494E4731ULL
#define DESCRIPTORS 65536
#define REAL(name, ...) ((__typeof__(&name))real(#name))(__VA_ARGS__)

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int changes = -1;
static uint64_t place;
static char of[PATH_MAX], scratch[PATH_MAX];
static unsigned char watched[DESCRIPTORS];

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort();
    return found;
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("LAPWING_POWER_CUT"), *data = getenv("LAPWING_POWER_CUT_OF");
    char path[PATH_MAX];
    struct stat found;
    if (folder == NULL || data == NULL) return;
    snprintf(of, sizeof of, "%s", data);
    snprintf(scratch, sizeof scratch, "%s", folder);
    snprintf(path, sizeof path, "%s/changes", folder);
    int opened = REAL(open, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0 || fstat(opened, &found) != 0) abort();
    place = (uint64_t)found.st_size;
    changes = opened;
}

static int is_inside(const char *path) {
    size_t length = strlen(of);
    return changes >= 0 && strncmp(path, of, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int is_watched(int fd, int as) { return changes >= 0 && fd >= 0 && fd < DESCRIPTORS && watched[fd] == as; }

static void lock(void) { pthread_mutex_lock(&guard); }

/* Leaves errno as the call before it has left it. */
static void unlock(void) {
    int error = errno;
    pthread_mutex_unlock(&guard);
    errno = error;
}

/* With the lock. A list that cannot be written would make a test that cannot fail. */
static void record(uint64_t kind, uint64_t inode, uint64_t one, uint64_t two, uint64_t three, const void *rest, size_t length) {
    struct timespec now;
    int error = errno;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t when_ns = (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
    uint64_t head[9] = {MAGIC, kind, inode, one, two, three, when_ns, length, 0};
    struct iovec parts[2] = {{head, sizeof head}, {(void *)(uintptr_t)rest, length}};
    if (syscall(SYS_writev, changes, parts, 2) != (long)(sizeof head + length)) abort();
    place += sizeof head + length;
    errno = error;
}

/* The bytes of a file as they are; to be freed. The descriptor may be for writing only. */
static char *bytes_of(int fd, off_t at, size_t length) {
    char *bytes = malloc(length + 1), path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = REAL(open, path, O_RDONLY | O_CLOEXEC);
    if (bytes == NULL || again < 0) abort();
    for (size_t have = 0; have < length;) {
        ssize_t more = pread(again, bytes + have, length - have, at + (off_t)have);
        if (more <= 0) abort();
        have += (size_t)more;
    }
    REAL(close, again);
    return bytes;
}

static void before_write(int fd, off_t at, size_t length) {
    struct stat is;
    if (fstat(fd, &is) != 0) abort();
    size_t old = at >= is.st_size ? 0 : (size_t)(is.st_size - at) < length ? (size_t)(is.st_size - at) : length;
    char *bytes = bytes_of(fd, at, old);
    record(WRITE, is.st_ino, (uint64_t)at, length, (uint64_t)is.st_size, bytes, old);
    free(bytes);
}

static void before_length(int fd, off_t length) {
    struct stat is;
    if (fstat(fd, &is) != 0) abort();
    size_t cut = length < is.st_size ? (size_t)(is.st_size - length) : 0;
    char *bytes = bytes_of(fd, length, cut);
    record(LENGTH, is.st_ino, (uint64_t)is.st_size, (uint64_t)length, 0, bytes, cut);
    free(bytes);
}

static off_t position_of(int fd) {
    struct stat is;
    if (fcntl(fd, F_GETFL) & O_APPEND) return fstat(fd, &is) == 0 ? is.st_size : 0;
    return lseek(fd, 0, SEEK_CUR);
}

static size_t bytes_in(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int part = 0; part < count; part++) bytes += parts[part].iov_len;
    return bytes;
}

#define WRITING(fd, at, length, call)                                                                                  \
    do {                                                                                                               \
        if (!is_watched(fd, A_FILE)) return call;                                                                      \
        lock();                                                                                                        \
        before_write(fd, at, length);                                                                                  \
        ssize_t written = call;                                                                                        \
        unlock();                                                                                                      \
        return written;                                                                                                \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t length) {
    WRITING(fd, position_of(fd), length, REAL(write, fd, bytes, length));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    WRITING(fd, position_of(fd), bytes_in(parts, count), REAL(writev, fd, parts, count));
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    WRITING(fd, at, length, REAL(pwrite, fd, bytes, length, at));
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
    WRITING(fd, at, length, REAL(pwrite64, fd, bytes, length, at));
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    WRITING(fd, at, bytes_in(parts, count), REAL(pwritev, fd, parts, count, at));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) {
    WRITING(fd, at, bytes_in(parts, count), REAL(pwritev64, fd, parts, count, at));
}

#define RESIZING(fd, length, call)                                                                                     \
    do {                                                                                                               \
        if (!is_watched(fd, A_FILE)) return call;                                                                      \
        lock();                                                                                                        \
        before_length(fd, length);                                                                                     \
        int result = call;                                                                                             \
        unlock();                                                                                                      \
        return result;                                                                                                 \
    } while (0)

static off_t grown(int fd, int mode, off_t to) {
    struct stat is;
    if (fstat(fd, &is) != 0) abort();
    return (mode & FALLOC_FL_KEEP_SIZE) || is.st_size > to ? is.st_size : to;
}

int ftruncate(int fd, off_t length) { RESIZING(fd, length, REAL(ftruncate, fd, length)); }
int ftruncate64(int fd, off_t length) { RESIZING(fd, length, REAL(ftruncate64, fd, length)); }
int fallocate(int fd, int mode, off_t at, off_t length) {
    RESIZING(fd, grown(fd, mode, at + length), REAL(fallocate, fd, mode, at, length));
}
int fallocate64(int fd, int mode, off_t at, off_t length) {
    RESIZING(fd, grown(fd, mode, at + length), REAL(fallocate64, fd, mode, at, length));
}

static void synced(int fd, uint64_t before) {
    struct stat is;
    char link[64], path[PATH_MAX];
    if (fstat(fd, &is) != 0) abort();
    if (watched[fd] == A_FILE) {
        record(SYNC, is.st_ino, before, 0, 0, NULL, 0);
        return;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    if (length < 0) abort();
    record(SYNC_NAMES, is.st_ino, before, 0, 0, path, (size_t)length);
}

#define SYNCING(fd, call)                                                                                              \
    do {                                                                                                               \
        if (!is_watched(fd, A_FILE) && !is_watched(fd, A_FOLDER)) return call;                                         \
        lock();                                                                                                        \
        uint64_t before = place;                                                                                       \
        unlock();                                                                                                      \
        int result = call;                                                                                             \
        lock();                                                                                                        \
        if (result == 0) synced(fd, before);                                                                           \
        unlock();                                                                                                      \
        return result;                                                                                                 \
    } while (0)

int fsync(int fd) { SYNCING(fd, REAL(fsync, fd)); }
int fdatasync(int fd) { SYNCING(fd, REAL(fdatasync, fd)); }

/* With the lock, before and after the open of a path inside. */
static int before_open(const char *path, int flags) {
    struct stat is;
    if (stat(path, &is) != 0) return 0;
    if ((flags & O_TRUNC) && S_ISREG(is.st_mode) && is.st_size > 0) {
        int fd = REAL(open, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) abort();
        before_length(fd, 0);
        REAL(close, fd);
    }
    return 1;
}

static void after_open(int fd, const char *path, int was_there) {
    struct stat is;
    if (fd < 0 || fd >= DESCRIPTORS || fstat(fd, &is) != 0) return;
    watched[fd] = S_ISDIR(is.st_mode) ? A_FOLDER : S_ISREG(is.st_mode) ? A_FILE : NOTHING;
    if (!was_there) record(NEW, is.st_ino, 0, 0, 0, path, strlen(path));
}

#define OPENING(path, flags, call)                                                                                     \
    do {                                                                                                               \
        mode_t mode = 0;                                                                                               \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                                   \
            va_list more;                                                                                              \
            va_start(more, flags);                                                                                     \
            mode = va_arg(more, mode_t);                                                                               \
            va_end(more);                                                                                              \
        }                                                                                                              \
        if (!is_inside(path)) return call;                                                                             \
        lock();                                                                                                        \
        int was_there = before_open(path, flags);                                                                      \
        int fd = call;                                                                                                 \
        after_open(fd, path, was_there);                                                                               \
        unlock();                                                                                                      \
        return fd;                                                                                                     \
    } while (0)

int open(const char *path, int flags, ...) { OPENING(path, flags, REAL(open, path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPENING(path, flags, REAL(open64, path, flags, mode)); }
int openat(int at, const char *path, int flags, ...) { OPENING(path, flags, REAL(openat, at, path, flags, mode)); }
int openat64(int at, const char *path, int flags, ...) { OPENING(path, flags, REAL(openat64, at, path, flags, mode)); }

int close(int fd) {
    if (fd >= 0 && fd < DESCRIPTORS) watched[fd] = NOTHING;
    return REAL(close, fd);
}

/* A second name of what a path names; 0: there is nothing. With the lock. */
static uint64_t second_name(const char *path, char *second, size_t size) {
    uint64_t number = place + 1;
    snprintf(second, size, "%s/removed-%llu", scratch, (unsigned long long)number);
    if (link(path, second) == 0) return number;
    if (errno != ENOENT) abort();
    return 0;
}

int rename(const char *from, const char *to) {
    char second[PATH_MAX + 64], names[2 * PATH_MAX];
    struct stat is;
    if (!is_inside(to)) return REAL(rename, from, to);
    lock();
    if (stat(from, &is) == 0) {
        size_t first = strlen(from) + 1, rest = strlen(to);
        memcpy(names, from, first);
        memcpy(names + first, to, rest);
        uint64_t number = second_name(to, second, sizeof second);
        record(RENAME, is.st_ino, number, 0, 0, names, first + rest);
    }
    int result = REAL(rename, from, to);
    unlock();
    return result;
}

static int removing(const char *path, int (*call)(const char *)) {
    char second[PATH_MAX + 64];
    struct stat is;
    if (!is_inside(path)) return call(path);
    lock();
    uint64_t number = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? second_name(path, second, sizeof second) : 0;
    if (number != 0) record(UNLINK, is.st_ino, number, 0, 0, path, strlen(path));
    int result = call(path);
    unlock();
    return result;
}

int unlink(const char *path) { return removing(path, (__typeof__(&unlink))real("unlink")); }
int remove(const char *path) { return removing(path, (__typeof__(&remove))real("remove")); }
