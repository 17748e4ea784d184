// ProjectNet: connections to whichever director serves a project's devices now: the file with its
// URL is read for each connection, so that a mount goes on with the next director, also at another
// port.
//
// Threads: as galley_vfs_net.
#pragma once

#include <string>

#include "common/vfs/galley_vfs.h"

namespace galley::mount {

class ProjectNet {
 public:
  // `inner`: connects. Its context outlives this object.
  ProjectNet(std::string url_file, const galley_vfs_net& inner)
      : url_file_(std::move(url_file)), inner_(inner) {}
  // Valid as long as this object, which must not move.
  galley_vfs_net net();

 private:
  static void* Connect(void* self, const char* host, uint16_t port, int timeout_ms, char* text,
                       size_t text_size);

  const std::string url_file_;
  const galley_vfs_net inner_;
};

}  // namespace galley::mount
