#include "physfs_galley.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An open file, of as many streams as were duplicated from the first one. */
typedef struct shared_file {
  galley_vfs_file* file;
  atomic_int users;
} shared_file;

/* A stream. The one that stands for the whole archive has no file. */
typedef struct stream {
  PHYSFS_Io io;
  galley_vfs* vfs;
  shared_file* shared;
  PHYSFS_uint64 position;
} stream;

static stream* make_stream(galley_vfs* vfs, shared_file* shared);

static PHYSFS_ErrorCode error_of(int result) {
  switch (result) {
    case GALLEY_VFS_OK:
      return PHYSFS_ERR_OK;
    case GALLEY_VFS_ABSENT:
      return PHYSFS_ERR_NOT_FOUND;
    case GALLEY_VFS_DAMAGED:
      return PHYSFS_ERR_CORRUPT;
    case GALLEY_VFS_NO_SPACE:
      return PHYSFS_ERR_NO_SPACE;
    case GALLEY_VFS_IO:
      return PHYSFS_ERR_IO;
    case GALLEY_VFS_INVALID:
      return PHYSFS_ERR_INVALID_ARGUMENT;
    case GALLEY_VFS_MEMORY:
      return PHYSFS_ERR_OUT_OF_MEMORY;
    default:
      return PHYSFS_ERR_OTHER_ERROR;
  }
}

/* ---------------------------------------------------------------- a stream */

static galley_vfs_file* file_of(PHYSFS_Io* io) {
  const stream* of = io->opaque;
  return of->shared == NULL ? NULL : of->shared->file;
}

static PHYSFS_sint64 length(PHYSFS_Io* io) { return (PHYSFS_sint64)galley_vfs_size(file_of(io)); }

static PHYSFS_sint64 tell(PHYSFS_Io* io) {
  return (PHYSFS_sint64)((const stream*)io->opaque)->position;
}

static PHYSFS_sint64 read_on(PHYSFS_Io* io, void* buffer, PHYSFS_uint64 size) {
  stream* of = io->opaque;
  const int64_t got = galley_vfs_read_at(file_of(io), of->position, buffer, (size_t)size);
  if (got < 0) {
    PHYSFS_setErrorCode(error_of((int)got));
    return -1;
  }
  of->position += (PHYSFS_uint64)got;
  return got;
}

static PHYSFS_sint64 refuse_write(PHYSFS_Io* io, const void* buffer, PHYSFS_uint64 size) {
  (void)io, (void)buffer, (void)size;
  PHYSFS_setErrorCode(PHYSFS_ERR_READ_ONLY);
  return -1;
}

static int seek(PHYSFS_Io* io, PHYSFS_uint64 offset) {
  if (offset > galley_vfs_size(file_of(io))) {
    PHYSFS_setErrorCode(PHYSFS_ERR_PAST_EOF);
    return 0;
  }
  ((stream*)io->opaque)->position = offset;
  return 1;
}

static PHYSFS_Io* duplicate(PHYSFS_Io* io) {
  const stream* of = io->opaque;
  stream* copy = make_stream(of->vfs, of->shared);
  if (copy == NULL) return NULL;
  if (of->shared != NULL) atomic_fetch_add(&of->shared->users, 1);
  return &copy->io;
}

static void destroy(PHYSFS_Io* io) {
  stream* of = io->opaque;
  if (of->shared != NULL && atomic_fetch_sub(&of->shared->users, 1) == 1) {
    galley_vfs_close(of->shared->file);
    free(of->shared);
  }
  free(of);
}

static stream* make_stream(galley_vfs* vfs, shared_file* shared) {
  stream* made = calloc(1, sizeof *made);
  if (made == NULL) {
    PHYSFS_setErrorCode(PHYSFS_ERR_OUT_OF_MEMORY);
    return NULL;
  }
  made->vfs = vfs;
  made->shared = shared;
  made->io.opaque = made;
  made->io.read = read_on;
  made->io.write = refuse_write;
  made->io.seek = seek;
  made->io.tell = tell;
  made->io.length = length;
  made->io.duplicate = duplicate;
  made->io.destroy = destroy;
  return made;
}

/* ---------------------------------------------------------------- the archive */

static void* open_archive(PHYSFS_Io* io, const char* name, int for_write, int* claimed) {
  (void)name, (void)for_write;
  if (io == NULL || io->destroy != destroy) return NULL; /* a file that only has our extension */
  *claimed = 1;
  return io->opaque;
}

static void close_archive(void* archive) { destroy(&((stream*)archive)->io); }

static PHYSFS_Io* open_read(void* archive, const char* path) {
  galley_vfs* vfs = ((stream*)archive)->vfs;
  galley_vfs_file* file = NULL;
  stream* made;
  shared_file* shared;
  const int result = galley_vfs_open(vfs, path, &file);
  if (result != GALLEY_VFS_OK) {
    PHYSFS_setErrorCode(error_of(result));
    return NULL;
  }
  shared = malloc(sizeof *shared);
  made = make_stream(vfs, shared);
  if (shared == NULL || made == NULL) {
    PHYSFS_setErrorCode(PHYSFS_ERR_OUT_OF_MEMORY);
    galley_vfs_close(file);
    free(shared);
    free(made);
    return NULL;
  }
  shared->file = file;
  atomic_init(&shared->users, 1);
  return &made->io;
}

typedef struct listing {
  PHYSFS_EnumerateCallback tell;
  void* context;
  const char* folder;
  PHYSFS_EnumerateCallbackResult said;
} listing;

static int tell_entry(void* context, const galley_vfs_entry* entry) {
  listing* to = context;
  to->said = to->tell(to->context, to->folder, entry->name);
  return to->said == PHYSFS_ENUM_OK ? 0 : 1;
}

static PHYSFS_EnumerateCallbackResult enumerate(void* archive, const char* path,
                                                PHYSFS_EnumerateCallback tell_name,
                                                const char* folder, void* context) {
  listing to = {tell_name, context, folder, PHYSFS_ENUM_OK};
  const int result = galley_vfs_list(((stream*)archive)->vfs, path, tell_entry, &to);
  if (result < 0) {
    PHYSFS_setErrorCode(error_of(result));
    return PHYSFS_ENUM_ERROR;
  }
  if (to.said == PHYSFS_ENUM_ERROR) PHYSFS_setErrorCode(PHYSFS_ERR_APP_CALLBACK);
  return to.said;
}

static int look(void* archive, const char* path, PHYSFS_Stat* stat) {
  galley_vfs_info info;
  int result;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  result = galley_vfs_look(((stream*)archive)->vfs, path, &info);
  if (result != GALLEY_VFS_OK) {
    PHYSFS_setErrorCode(error_of(result));
    return 0;
  }
  stat->filesize = info.size;
  stat->modtime = stat->createtime = stat->accesstime = -1;
  stat->filetype = info.is_folder ? PHYSFS_FILETYPE_DIRECTORY : PHYSFS_FILETYPE_REGULAR;
  stat->readonly = 1;
  return 1;
}

static PHYSFS_Io* refuse_open(void* archive, const char* path) {
  (void)archive, (void)path;
  PHYSFS_setErrorCode(PHYSFS_ERR_READ_ONLY);
  return NULL;
}

static int refuse_change(void* archive, const char* path) {
  (void)archive, (void)path;
  PHYSFS_setErrorCode(PHYSFS_ERR_READ_ONLY);
  return 0;
}

static const PHYSFS_Archiver archiver = {
    0,
    {"galley", "Cooked files of a Galley director", "", "", 0},
    open_archive,
    enumerate,
    open_read,
    refuse_open,
    refuse_open,
    refuse_change,
    refuse_change,
    look,
    close_archive,
};

int physfs_galley_mount(galley_vfs* vfs, const char* mount_point, int append) {
  stream* archive;
  if (!PHYSFS_registerArchiver(&archiver) && PHYSFS_getLastErrorCode() != PHYSFS_ERR_DUPLICATE)
    return 0;
  archive = make_stream(vfs, NULL);
  if (archive == NULL) return 0;
  if (PHYSFS_mountIo(&archive->io, PHYSFS_GALLEY_NAME, mount_point, append)) return 1;
  destroy(&archive->io);
  return 0;
}
