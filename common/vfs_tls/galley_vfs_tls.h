/* galley_vfs_tls: TLS for galley_vfs, by OpenSSL, for a director on another machine.
 *
 *   galley_vfs_tls_options tls = {sizeof tls};
 *   tls.pinned_sha256 = "3f9a...";
 *   galley_vfs_net net;
 *   char text[256];
 *   if (galley_vfs_tls_create(&tls, &net, text, sizeof text) != GALLEY_VFS_OK) ...
 *   options.url = "https://10.0.0.7:8080";
 *   options.net = &net;
 *   ... galley_vfs_create, galley_vfs_destroy ...
 *   galley_vfs_tls_destroy(&net);
 *
 * TLS 1.2 or later. The server's certificate must be of an authority that is trusted here, valid
 * now, and for the host of the URL; or, with a pin, exactly the pinned one.
 *
 * Threads: as galley_vfs_net: any, and one connection is used by one thread at a time. The adapter
 * makes no threads and has no sockets of its own.
 */
#ifndef GALLEY_VFS_TLS_H_
#define GALLEY_VFS_TLS_H_

#include "common/vfs/galley_vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galley_vfs_tls_options {
  size_t struct_size;  /* sizeof(galley_vfs_tls_options); all that follows may be 0 */
  const char* ca_file; /* PEM: the authorities that are trusted. NULL: those of the system */
  /* SHA-256 of the server's certificate in DER, 64 hex digits; colons between them may stand.
   * Exactly this certificate is accepted then, whatever its name, its issuer and its dates are, and
   * `ca_file` must be NULL. */
  const char* pinned_sha256;
  const char* certificate_file; /* PEM: of the client, with its chain, where the server wants one */
  const char* key_file;         /* PEM, without a password */
  /* The connections under TLS. NULL: plain sockets. Copied; its context outlives the adapter. */
  const galley_vfs_net* net;
} galley_vfs_tls_options;

/* Fills in `net` for galley_vfs_options. Reads the files; does not connect. GALLEY_VFS_INVALID: an
 * option or a file is wrong, and `text`, of `text_size` bytes, says what was expected. */
int galley_vfs_tls_create(const galley_vfs_tls_options* options, galley_vfs_net* net, char* text,
                          size_t text_size);

/* Frees what `net` uses, and clears it. REQUIRES: each handle that uses `net` was destroyed. A `net`
 * that galley_vfs_tls_create refused may be given, and NULL. */
void galley_vfs_tls_destroy(galley_vfs_net* net);

#ifdef __cplusplus
}
#endif

#endif
