/* The cooked files of a galley_vfs in the search path of PhysicsFS 3. A game copies this file and
 * physfs_galley.c.
 *
 *   PHYSFS_init(argv[0]);
 *   physfs_galley_mount(vfs, "/", 1);
 *   ...
 *   galley_vfs_prefetch(vfs, paths, count, NULL, NULL);    in the game's loading threads
 *   PHYSFS_openRead("Game/props/barrel.png.ktx2");
 *
 * PhysicsFS holds one lock while it opens a file or lists a folder, so a call that waits for a cook
 * holds up the calls of all threads. Therefore prefetch first, without that lock; the open then
 * finds the file in the cache.
 *
 * One thread at a time may read a file. Nothing can be written: PHYSFS_ERR_READ_ONLY. After
 * PHYSFS_ERR_OTHER_ERROR galley_vfs_error says why.
 */
#ifndef PHYSFS_GALLEY_H_
#define PHYSFS_GALLEY_H_

#include <galley_vfs.h>
#include <physfs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name under which the files are mounted: PHYSFS_unmount(PHYSFS_GALLEY_NAME) ends it. */
#define PHYSFS_GALLEY_NAME "cooked.galley"

/* Mounts the files at a folder of the search path; `append` as for PHYSFS_mount. Returns 0 if it
 * fails, and PHYSFS_getLastErrorCode says why. The handle is destroyed after the unmount. */
int physfs_galley_mount(galley_vfs* vfs, const char* mount_point, int append);

#ifdef __cplusplus
}
#endif

#endif
