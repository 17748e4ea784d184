/* galley_vfs: the cooked files of a platform, for a game that reads them from a Galley director.
 *
 * A handle sees one version of the project (a world). Files are cooked when they are opened, if need
 * be, and kept in a folder of this machine; every byte is checked by its SHA-256 before the game has
 * it. Without a director, what was opened or listed before with the same URL, platform and cultures
 * is served from the folder.
 *
 *   galley_vfs_options options;
 *   memset(&options, 0, sizeof options);
 *   options.struct_size = sizeof options;
 *   options.url = "http://127.0.0.1:8080";
 *   options.platform = "android";
 *   options.cache_folder = "/data/cache/galley";
 *   galley_vfs* vfs;
 *   galley_vfs_file* file;
 *   char text[512];
 *   int result = galley_vfs_create(&options, &vfs);
 *   if (result == GALLEY_VFS_OK)
 *     result = galley_vfs_open(vfs, "Game/props/barrel.png.ktx2", &file);
 *   if (result == GALLEY_VFS_OK) {
 *     int64_t got = galley_vfs_read(file, buffer, sizeof buffer);
 *     galley_vfs_close(file);
 *   } else {
 *     galley_vfs_error(vfs, text, sizeof text);
 *     fprintf(stderr, "%s: %s\n", galley_vfs_result_name(result), text);
 *   }
 *   galley_vfs_destroy(vfs);
 *
 * Paths are those of the cooked tree: "Game/props/barrel.png" is cooked to
 * "Game/props/barrel.png.ktx2"; galley_vfs_list tells the names. A path is plain: UTF-8, names joined
 * by single '/', without one at either end, without the names "." and "..", and without a backslash; case
 * matters. Texts are UTF-8 and end in a zero byte.
 *
 * Threads: the functions of one galley_vfs may be called from any threads at the same time, except
 * galley_vfs_destroy. The library makes no threads. "Blocks" means: waits for the director, which
 * may cook, as long as the options say; galley_vfs_cancel ends it. What does not block may read and
 * write the cache folder.
 *
 * Compatible: a program that was compiled with an older header works with a newer library.
 */
#ifndef GALLEY_VFS_H_
#define GALLEY_VFS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a function that returns int. Negative ones are errors; galley_vfs_error tells more,
 * for people. */
enum galley_vfs_result {
  GALLEY_VFS_OK = 0,
  GALLEY_VFS_ABSENT = -1, /* the world has no such file, or no such folder */
  GALLEY_VFS_FAILED = -2, /* it cannot be cooked; the text has the cooker's error */
  /* It is not in the cache, a newer version of the project exists, and the director does not have
   * this one any more: call galley_vfs_advance. */
  GALLEY_VFS_SUPERSEDED = -3,
  GALLEY_VFS_OFFLINE = -4,    /* it is not in the cache, and no director can be reached */
  GALLEY_VFS_TIMED_OUT = -5,  /* the director has not answered in time; it may be cooking still */
  GALLEY_VFS_REFUSED = -6,    /* the token is wrong, or the host in the URL is not allowed */
  GALLEY_VFS_SERVER = -7,     /* the director, or what is in front of it, fails */
  GALLEY_VFS_DAMAGED = -8,    /* the bytes were wrong, and were wrong again */
  GALLEY_VFS_NO_SPACE = -9,   /* the disk is full, or the file is larger than the cache may be */
  GALLEY_VFS_IO = -10,        /* the cache folder cannot be read or written */
  GALLEY_VFS_CANCELLED = -11, /* galley_vfs_cancel */
  /* The call is wrong: a path that is not plain, a folder that is opened, a file that is listed, an
   * option; or the director has no such platform, which the first call that asks it finds out. */
  GALLEY_VFS_INVALID = -12,
  GALLEY_VFS_MEMORY = -13,
  GALLEY_VFS_INTERNAL = -14 /* a fault of the library */
};

typedef struct galley_vfs galley_vfs;           /* a platform as one director serves it */
typedef struct galley_vfs_file galley_vfs_file; /* an open file; its bytes never change */

/* ---------------------------------------------------------------- hooks */

enum galley_vfs_level { GALLEY_VFS_INFO = 0, GALLEY_VFS_WARNING = 1 };

/* How the library reaches the director. All of it is called from whatever thread is in the library;
 * one connection is used by one thread at a time. No function may wait longer than `timeout_ms`. */
typedef struct galley_vfs_net {
  size_t struct_size; /* sizeof(galley_vfs_net) */
  void* context;      /* given to each function */
  /* Connects to a host (a name or an address, without brackets). Returns the connection; NULL: it
   * cannot be reached, and `text` (of `text_size` bytes) says why. */
  void* (*connect)(void* context, const char* host, uint16_t port, int timeout_ms, char* text,
                   size_t text_size);
  /* Returns how many bytes were sent or received, at least 1; 0: the connection has ended; -1:
   * nothing yet, the time has passed; -2: the connection is broken. */
  ptrdiff_t (*send)(void* context, void* connection, const void* bytes, size_t size,
                    int timeout_ms);
  ptrdiff_t (*receive)(void* context, void* connection, void* buffer, size_t size, int timeout_ms);
  void (*close)(void* context, void* connection);
} galley_vfs_net;

/* ---------------------------------------------------------------- a handle */

typedef struct galley_vfs_options {
  size_t struct_size; /* sizeof(galley_vfs_options) */
  /* Required: these three. All that follows them may be 0. */
  const char* url; /* "http://host:port", or "https://host:port" with a `net` that speaks TLS */
  const char* platform;        /* a platform of the project */
  const char* cache_folder;    /* made if need be; several programs may share it */
  const char* const* cultures; /* e.g. "de"; the files of L10N/de are seen where there are some */
  size_t culture_count;
  const char* token;        /* the director's, for other addresses than loopback */
  uint64_t cache_bytes_max; /* 0: 4 GiB */
  /* How long to try to connect; 0: 2,000. Not in it: the look-up of a name in `url` by the system,
   * which neither this nor galley_vfs_cancel ends (often 5 to 30 s without an answer). It is done
   * once for a handle, and at most every 30 s after a failure. "localhost" and addresses need none. */
  int connect_ms;
  int wait_ms;               /* how long one call may take at most; 0: 300,000 */
  int takes_last_good;       /* not 0: a file that fails is answered by its last good version */
  const galley_vfs_net* net; /* NULL: plain sockets. Copied; its context outlives the handle */
  /* Is told what the library does and suffers. NULL: nobody is. Any thread that is in the library;
   * must not call the library. */
  void (*log)(void* context, int level, const char* text);
  void* log_context;
  /* A clock in milliseconds that never goes back; its zero may be anywhere. NULL: the system's. */
  uint64_t (*clock)(void* context);
  void* clock_context;
} galley_vfs_options;

/* Makes a handle. Does not block: the director is asked when something is needed, so that OK does not
 * say that the URL and the platform are right. Where a handle can
 * be made, *vfs is set also after an error, so that galley_vfs_error can say what is wrong; such a
 * handle can only be destroyed. *vfs is NULL after GALLEY_VFS_MEMORY and where `options` is NULL. */
int galley_vfs_create(const galley_vfs_options* options, galley_vfs** vfs);

/* Destroys the handle, which may be NULL. REQUIRES: no other call, and no open file. */
void galley_vfs_destroy(galley_vfs* vfs);

/* Calls that block, and all later ones that would, end with GALLEY_VFS_CANCELLED, until
 * galley_vfs_resume. Does not block. */
void galley_vfs_cancel(galley_vfs* vfs);
void galley_vfs_resume(galley_vfs* vfs);

/* Copies the text of the last error of a call on this handle, from whatever thread, into `text`, of
 * `size` bytes; what does not fit is cut. A call that succeeds does not clear it. Returns the length
 * of the whole text, without the zero byte. Does not block. */
size_t galley_vfs_error(galley_vfs* vfs, char* text, size_t size);

/* "GALLEY_VFS_ABSENT" for -1, and so on. Lives for ever. */
const char* galley_vfs_result_name(int result);

/* ---------------------------------------------------------------- files */

/* Opens a file: from the cache, else from the director, which cooks it if need be. *file is NULL
 * after an error. An open file stays readable, also when the cache drops it. Blocks. */
int galley_vfs_open(galley_vfs* vfs, const char* path, galley_vfs_file** file);

/* Reads from the file's position, and moves it. Returns the number of bytes, fewer than `size` only
 * at the end of the file, 0 behind it; or an error. Does not block. One thread at a time for one file. */
int64_t galley_vfs_read(galley_vfs_file* file, void* buffer, size_t size);

/* Reads at an offset; the position stays. Any threads. Does not block. */
int64_t galley_vfs_read_at(galley_vfs_file* file, uint64_t offset, void* buffer, size_t size);

/* Sets the position: `whence` is SEEK_SET, SEEK_CUR or SEEK_END (0, 1, 2). Returns the new one, or
 * GALLEY_VFS_INVALID. Does not block. One thread at a time for one file. */
int64_t galley_vfs_seek(galley_vfs_file* file, int64_t offset, int whence);

uint64_t galley_vfs_size(const galley_vfs_file* file);
/* "<64 hex>/<size>": the digest, which is the same for the same bytes. Lives as long as the file. */
const char* galley_vfs_digest(const galley_vfs_file* file);
/* Not 0: the file is not of this world, but the last good version (takes_last_good). */
int galley_vfs_is_last_good(const galley_vfs_file* file);
/* `file` may be NULL. */
void galley_vfs_close(galley_vfs_file* file);

/* ---------------------------------------------------------------- folders, many files */

typedef struct galley_vfs_entry {
  const char* name; /* in its folder; lives until the call of `visit` ends */
  int is_folder;
  /* Of a file that is not converted when it is cooked, and of what lies in "<package>.d" or "_gen". -1:
   * a listing does not tell; galley_vfs_look does for a file that is cooked. */
  int64_t size;
} galley_vfs_entry;

/* Calls `visit` with what lies in the folder ("" is the top), sorted by name. `visit` returns 0 to go
 * on. Its first value that is not 0 ends the call and is its result; so it must not be negative. It
 * may call the library. Returns GALLEY_VFS_OK at the end. Cooks nothing, with one exception: a folder
 * "<package>.d" or "<package>/_gen", of which only a cook tells what it has, and which may be empty.
 * Blocks. */
int galley_vfs_list(galley_vfs* vfs, const char* folder,
                    int (*visit)(void* context, const galley_vfs_entry* entry), void* context);

typedef struct galley_vfs_info {
  size_t struct_size; /* sizeof(galley_vfs_info), set by the caller */
  int is_folder;      /* of what is not cooked: going by its name */
  /* 0: only a cook tells the rest, and, in "<package>.d" and "_gen", whether it is there at all. 1: of
   * folders of the tree, too. */
  int is_cooked;
  int64_t size; /* of a cooked file; -1: not known before it is opened */
} galley_vfs_info;

/* Tells what is at a path ("" is the top). GALLEY_VFS_ABSENT: the world has no such path. Cooks
 * nothing, and waits for folders of the tree alone. Blocks. */
int galley_vfs_look(galley_vfs* vfs, const char* path, galley_vfs_info* info);

/* Gets files into the cache, one after the other, and goes on where one cannot be had. `done`, which
 * may be NULL, is told the result of each. Returns GALLEY_VFS_OK, or the first error. Blocks.
 * Several threads may share the work. */
int galley_vfs_prefetch(galley_vfs* vfs, const char* const* paths, size_t count,
                        void (*done)(void* context, const char* path, int result), void* context);

/* ---------------------------------------------------------------- newer worlds */

/* Goes to the newest world. Open files keep their bytes. Returns 1: it is another one than before,
 * 0: it is the same, or an error. Blocks. */
int galley_vfs_advance(galley_vfs* vfs);

enum galley_vfs_change_kind {
  GALLEY_VFS_ADDED = 1,
  GALLEY_VFS_MODIFIED = 2,
  GALLEY_VFS_REMOVED = 3,
  GALLEY_VFS_STALE = 4, /* it may differ, and is not cooked yet; if it was read, MODIFIED follows */
  GALLEY_VFS_BROKEN = 5, /* `path` is a package that cannot be cooked; `text` says why */
  GALLEY_VFS_HEALED = 6, /* `path` is a package that can be cooked again */
  GALLEY_VFS_MORE = 7    /* there is more than was told: look again at what is in use */
};

typedef struct galley_vfs_change {
  int kind;
  const char* path; /* lives until the call ends, as `text` does; "" for GALLEY_VFS_MORE */
  const char* text;
} galley_vfs_change;

/* Tells what differs in newer worlds from what is seen here; files in "<package>/_gen" are not told of,
 * but their generator is. `event` returns 0 to go on; its first value that is not 0 ends the call and
 * is its result; so it must not be negative. What is seen stays: call galley_vfs_advance, here or in
 * another thread, to see it. Goes on by itself when the director comes back. Blocks without an end;
 * galley_vfs_cancel ends it, and all other calls that block. One thread at a time. */
int galley_vfs_watch(galley_vfs* vfs, int (*event)(void* context, const galley_vfs_change* change),
                     void* context);

/* Tells which paths of the world that is seen may have other bytes than they had in an older root, as
 * galley_vfs_get_status gave it: ADDED, MODIFIED, REMOVED, and STALE for what is not cooked in this
 * world. A folder stands for all that is in it; files in folders "_gen" are not told, and may differ.
 * Asks the director for it; an older one, and a cache without a director, have the folders that differ
 * between the two trees. Opening a file that was told costs nothing but the file. Goes on until `event` returns something else than 0, which
 * is then returned, too; it must not be negative. GALLEY_VFS_SUPERSEDED: the older root is neither in
 * the cache nor at the director: look again at what is in use. Blocks. */
int galley_vfs_diff(galley_vfs* vfs, const char* older_root,
                    int (*event)(void* context, const galley_vfs_change* change), void* context);

typedef struct galley_vfs_status {
  size_t struct_size; /* sizeof(galley_vfs_status), set by the caller */
  int is_online;      /* a version is open at the director, and it answered last */
  int is_frozen;      /* the director does not hold the world that is seen here any more */
  /* Since the handle was made: files, and folders of the tree; bytes with all overhead of HTTP. */
  uint64_t fetched_files, fetched_bytes;
  uint64_t wrong_files; /* whose bytes were wrong: from the director, or in the cache */
  uint64_t cache_files, cache_bytes;
  uint64_t evicted_files;
  char root
      [96]; /* "<64 hex>/<size>": the tree that is seen, with what was cooked since; "": none yet */
} galley_vfs_status;

/* Does not block. */
int galley_vfs_get_status(galley_vfs* vfs, galley_vfs_status* status);

#ifdef __cplusplus
}
#endif

#endif
