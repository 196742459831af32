/* A disk that fails on request, laid under one folder of one process with LD_PRELOAD.
 *
 * DISK_FOLDER is the folder, DISK_PANEL a file that both sides map: the test turns its knobs while the process runs.
 * DISK_TRACE, if set, gets a record of every change of the folder and of every sync that really happened, so that the
 * test can lay down what a power cut would have left (platter.py reads it). Nothing outside the folder is touched,
 * except the clock of the day.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The same fields, in the same order, as Panel in disk.py. */
struct panel {
    uint64_t calls;       /* changes and syncs of the folder so far, the one under way included */
    uint64_t stop_at;     /* the process is killed when it comes to this call; 0 is never */
    uint64_t stop_bytes;  /* of the write it is killed at, so many bytes arrive */
    int64_t room_bytes;   /* what can still be written; negative is no bound */
    uint64_t no_room;     /* writes that found no room */
    uint64_t write_errno; /* what a write answers instead of writing */
    uint64_t sync_errno;  /* what a sync answers instead of syncing */
    uint64_t syncs;       /* syncs that were asked for */
    uint64_t sync_lies;   /* a sync says that it is done, and does nothing */
    uint64_t sync_us;     /* how much longer a sync takes */
    uint64_t sync_noted;  /* a sync is noted as one that happened, without one of the disk below */
    int64_t clock_ns;     /* added to the clock of the day */
    uint64_t opens;       /* opens of the folder and of files in it so far, the one under way included */
    uint64_t open_errno;  /* what an open answers instead of opening */
    uint64_t open_at;     /* only the open with this number answers so; 0 is every one */
    uint64_t clock_skips;    /* of the calls that the next three are about, so many more are good */
    uint64_t clock_failures; /* then so many fail: Rust's standard library panics at a clock that fails */
    uint64_t clock_held;     /* while this is set they wait, and their thread does nothing else */
    char clock_thread[16];   /* the calls for the time of day by threads of this name */
};

enum kind { OPENED = 1, WRITTEN, CUT, SYNC_BEGAN, SYNCED, RENAMED, REMOVED, FOLDER_MADE };

struct record {
    uint32_t kind;
    uint32_t file;
    uint64_t place;
    uint32_t name_bytes;
    uint32_t data_bytes;
};

#define FILES_MAX 65536

static struct panel *panel;
static struct panel no_panel = {.room_bytes = -1};
static char folder[PATH_MAX];
static size_t folder_bytes;
static int trace = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Files of the folder by inode; the number is new for every file, an inode is used again. */
static struct { dev_t device; ino_t inode; uint32_t number; } files[FILES_MAX];
static uint32_t file_count, number_count;

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static ssize_t plain_write(int fd, const void *bytes, size_t count) {
    REAL(write);
    return real(fd, bytes, count);
}

static int plain_open(const char *path, int flags, mode_t mode) {
    REAL(open);
    return real(path, flags, mode);
}

__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("DISK_FOLDER"), *knobs = getenv("DISK_PANEL"), *log = getenv("DISK_TRACE");
    panel = &no_panel;
    if (!given || !knobs || strlen(given) >= sizeof folder) return;
    int fd = plain_open(knobs, O_RDWR | O_CLOEXEC, 0);
    void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *panel, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (mapped == MAP_FAILED) {
        fprintf(stderr, "disk.c: cannot map %s\n", knobs);
        abort();
    }
    panel = mapped;
    if (log) trace = plain_open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    strcpy(folder, given);
    folder_bytes = strlen(folder);
}

static void note(enum kind kind, uint32_t file, uint64_t place, const char *name, const void *data, size_t data_bytes) {
    if (trace < 0) return;
    size_t name_bytes = strlen(name);
    struct record record = {kind, file, place, (uint32_t)name_bytes, (uint32_t)data_bytes};
    struct iovec parts[3] = {{&record, sizeof record}, {(void *)name, name_bytes}, {(void *)data, data_bytes}};
    REAL(writev);
    if (real(trace, parts, 3) != (ssize_t)(sizeof record + name_bytes + data_bytes)) abort();
}

/* Counts a call on the folder; the lock is held from here to `done`. Whether the process is to die at it. */
static int begun(void) {
    pthread_mutex_lock(&turn);
    return ++panel->calls == panel->stop_at;
}

static void done(void) { pthread_mutex_unlock(&turn); }

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int64_t refuse(uint64_t code) {
    errno = (int)code;
    return -1;
}

/* The name below the folder, or NULL when it is elsewhere. The folder itself is "". */
static const char *inside(int at, const char *path, char *room) {
    if (!folder_bytes || !path) return NULL;
    if (path[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(at == AT_FDCWD ? "/proc/self/cwd" : link, room, PATH_MAX - 1);
        if (length < 0 || (size_t)length + strlen(path) + 2 > PATH_MAX) return NULL;
        snprintf(room + length, PATH_MAX - (size_t)length, "/%s", path);
        path = room;
    }
    if (strncmp(path, folder, folder_bytes)) return NULL;
    path += folder_bytes;
    if (*path && *path != '/') return NULL;
    while (*path == '/' || !strncmp(path, "./", 2)) path++;
    return strcmp(path, ".") ? path : "";
}

/* The number of an open file of the folder; 0 when it is none. */
static uint32_t number_of(int fd, struct stat *found) {
    if (!folder_bytes || fstat(fd, found) || !(S_ISREG(found->st_mode) || S_ISDIR(found->st_mode))) return 0;
    for (uint32_t place = 0; place < file_count; place++)
        if (files[place].inode == found->st_ino && files[place].device == found->st_dev) return files[place].number;
    return 0;
}

static void opened(int fd, const char *name, int is_new, int is_cut) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    if (number && !is_new) {
        if (is_cut) note(CUT, number, 0, "", "", 0);
        return;
    }
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return;
    uint32_t place = 0;
    while (place < file_count && (files[place].inode != found.st_ino || files[place].device != found.st_dev)) place++;
    if (place == FILES_MAX) abort();
    files[place].device = found.st_dev;
    files[place].inode = found.st_ino;
    files[place].number = ++number_count;
    if (place == file_count) file_count++;
    note(OPENED, number_count, (uint64_t)is_cut, name, "", 0);
}

static int open_there(int (*real)(int, const char *, int, ...), int at, const char *path, int flags, mode_t mode) {
    char room[PATH_MAX];
    const char *name = inside(at, path, room);
    if (!name) return real(at, path, flags, mode);
    uint64_t number = __atomic_add_fetch(&panel->opens, 1, __ATOMIC_SEQ_CST);
    if (panel->open_errno && (!panel->open_at || panel->open_at == number)) return (int)refuse(panel->open_errno);
    int is_new = (flags & O_CREAT) && faccessat(at, path, F_OK, 0) != 0;
    int is_cut = (flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY;
    if (!is_new && !is_cut) {
        pthread_mutex_lock(&turn);
    } else if (begun()) {
        die();
    }
    int fd = real(at, path, flags, mode);
    if (fd >= 0) opened(fd, name, is_new, is_cut);
    done();
    return fd;
}

#define OPEN_BODY(at, function) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    } \
    REAL(function); \
    return open_there(real, at, path, flags, mode)

int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, openat); }
int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, openat64); }
int openat(int at, const char *path, int flags, ...) { OPEN_BODY(at, openat); }
int openat64(int at, const char *path, int flags, ...) { OPEN_BODY(at, openat64); }

/* How many of the bytes the disk takes; -1 with errno when it takes none. */
static ssize_t taken(size_t count) {
    if (panel->write_errno) return refuse(panel->write_errno);
    if (panel->room_bytes < 0 || (int64_t)count <= panel->room_bytes) return (ssize_t)count;
    panel->no_room++;
    return panel->room_bytes ? (ssize_t)panel->room_bytes : refuse(ENOSPC);
}

static void use(int64_t bytes) {
    if (panel->room_bytes >= 0) panel->room_bytes += bytes;
}

static ssize_t write_there(int fd, uint32_t number, off_t place, const void *bytes, size_t count) {
    REAL(pwrite);
    int is_last = begun(), is_append = fcntl(fd, F_GETFL) & O_APPEND;
    ssize_t most = is_last ? (ssize_t)(panel->stop_bytes < count ? panel->stop_bytes : count) : taken(count);
    ssize_t written = most;
    if (most > 0 || (most == 0 && !is_last)) {
        struct stat found;
        off_t at = place >= 0 ? place : lseek(fd, 0, SEEK_CUR);
        if (is_append && !fstat(fd, &found)) at = found.st_size;
        written = place >= 0 ? real(fd, bytes, (size_t)most, place) : plain_write(fd, bytes, (size_t)most);
        if (written > 0) {
            use(-written);
            note(WRITTEN, number, (uint64_t)at, "", bytes, (size_t)written);
        }
    }
    if (is_last) die();
    done();
    return written;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    return number ? write_there(fd, number, -1, bytes, count) : plain_write(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    REAL(pwrite);
    return number ? write_there(fd, number, place, bytes, count) : real(fd, bytes, count, place);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place) { return pwrite(fd, bytes, count, place); }

/* A write of several parts may be answered short, so the first of them alone is right. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    REAL(writev);
    if (!number) return real(fd, parts, count);
    while (count > 1 && !parts->iov_len) parts++, count--;
    return count ? write_there(fd, number, -1, parts->iov_base, parts->iov_len) : 0;
}

/* What was written before a sync began is safe when it has ended; the lock is not held meanwhile. */
static int sync_there(int (*real)(int), int fd) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    if (!number) return real(fd);
    if (begun()) die();
    panel->syncs++;
    int lies = panel->sync_lies != 0;
    if (!lies) note(SYNC_BEGAN, number, 0, "", "", 0);
    done();
    if (panel->sync_us) usleep((useconds_t)panel->sync_us);
    if (panel->sync_errno) return (int)refuse(panel->sync_errno);
    if (lies) return 0;
    int answer = panel->sync_noted ? 0 : real(fd);
    pthread_mutex_lock(&turn);
    if (!answer) note(SYNCED, number, 0, "", "", 0);
    done();
    return answer;
}

int fsync(int fd) {
    REAL(fsync);
    return sync_there(real, fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return sync_there(real, fd);
}

int ftruncate(int fd, off_t size) {
    struct stat found;
    uint32_t number = number_of(fd, &found);
    REAL(ftruncate);
    if (!number) return real(fd, size);
    if (begun()) die();
    int answer = real(fd, size);
    if (!answer) {
        use(found.st_size - size);
        note(CUT, number, (uint64_t)size, "", "", 0);
    }
    done();
    return answer;
}

int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int renameat(int from_at, const char *from, int to_at, const char *to) {
    char from_room[PATH_MAX], to_room[PATH_MAX];
    const char *old = inside(from_at, from, from_room), *new = inside(to_at, to, to_room);
    REAL(renameat);
    if (!old || !new) return real(from_at, from, to_at, to);
    if (begun()) die();
    int answer = real(from_at, from, to_at, to);
    if (!answer) note(RENAMED, 0, 0, old, new, strlen(new));
    done();
    return answer;
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int at, const char *path, int flags) {
    char room[PATH_MAX];
    struct stat found;
    const char *name = inside(at, path, room);
    REAL(unlinkat);
    if (!name) return real(at, path, flags);
    if (begun()) die();
    int64_t freed = fstatat(at, path, &found, AT_SYMLINK_NOFOLLOW) || !S_ISREG(found.st_mode) ? 0 : found.st_size;
    int answer = real(at, path, flags);
    if (!answer) {
        use(freed);
        note(REMOVED, 0, 0, name, "", 0);
    }
    done();
    return answer;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    char room[PATH_MAX];
    const char *name = inside(AT_FDCWD, path, room);
    REAL(mkdir);
    if (!name) return real(path, mode);
    if (begun()) die();
    int answer = real(path, mode);
    if (!answer) note(FOLDER_MADE, 0, 0, name, "", 0);
    done();
    return answer;
}

/* Whether the panel is about this call for the time. */
static int is_meant(clockid_t clock) {
    static __thread char name[16];
    if (!panel || !panel->clock_thread[0]) return 0;
    if (!name[0]) prctl(PR_GET_NAME, name);
    if (strncmp(name, panel->clock_thread, sizeof name)) return 0;
    return clock == CLOCK_REALTIME;
}

/* Takes one off a counter of the panel that threads share; whether there was one. */
static int counted_down(uint64_t *counter) {
    uint64_t left = __atomic_load_n(counter, __ATOMIC_SEQ_CST);
    while (left && !__atomic_compare_exchange_n(counter, &left, left - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return left > 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    if (is_meant(clock)) {
        while (__atomic_load_n(&panel->clock_held, __ATOMIC_SEQ_CST)) usleep(1000);
        if (panel->clock_failures && !counted_down(&panel->clock_skips) && counted_down(&panel->clock_failures)) return (int)refuse(EINVAL);
    }
    int answer = real(clock, now);
    int64_t jump = panel ? panel->clock_ns : 0;
    if (answer || !jump || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return answer;
    int64_t moved = now->tv_nsec + jump % 1000000000;
    now->tv_sec += jump / 1000000000 + (moved >= 1000000000) - (moved < 0);
    now->tv_nsec = (moved + 1000000000) % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &found)) return -1;
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec found = {0};
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
