// Disk: the files of a cache, on any system. Errors are faults with the system's text;
// GALLEY_VFS_ABSENT: there is no such file; GALLEY_VFS_NO_SPACE: the disk, or the user's share of
// it, is full; GALLEY_VFS_IO: everything else, a file that may not be read included.
//
// Links are never followed to a file, and nothing waits for what is no file (a pipe, a device).
//
// Paths are UTF-8, with '/'. Threads: any; an OpenFile: read_at any, others one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/vfs/result.h"

namespace galley::vfs {

struct FileFacts {
  std::string name;  // in its folder
  uint64_t id = 0;   // of the file, while it is there; List may leave it 0
  uint64_t size = 0;
  int64_t used_s = 0;  // modification time, in seconds since 1970
  bool is_folder = false;
  bool is_other = false;  // neither a file nor a folder: a link, a pipe, a device
};

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  // Reads at most `size` bytes at the offset; fewer only at the end of the file.
  virtual Result<size_t> ReadAt(uint64_t offset, void* buffer, size_t size) const = 0;
  // After a fault the file may have the beginning of the bytes.
  virtual Outcome Append(std::string_view bytes) = 0;
  virtual Result<uint64_t> Size() const = 0;
  virtual Result<uint64_t> Id() const = 0;  // FileFacts::id
  // True: nobody else has locked the file, here or in another process, until it is closed. Where
  // the file system has no locks: nobody else in this process.
  virtual bool Lock() = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  // kNotAFile: something else is there: a link, a folder, a pipe.
  virtual Result<std::unique_ptr<OpenFile>> OpenToRead(const std::string& path) = 0;
  // kNotAFile as above. Makes the file if need be, and keeps what it has.
  virtual Result<std::unique_ptr<OpenFile>> OpenToAppend(const std::string& path) = 0;
  // Replaces `to`. Whoever has `to` open keeps what it has.
  virtual Outcome Rename(const std::string& from, const std::string& to) = 0;
  // Removes a file, a link (not its target), or a folder without entries. An absent file is no
  // fault.
  virtual Outcome Remove(const std::string& path) = 0;
  // Makes the folder and those above it. GALLEY_VFS_IO: something else is there.
  virtual Outcome MakeFolder(const std::string& path) = 0;
  // Returns the entries of the folder, in no order. An absent folder is empty.
  virtual Result<std::vector<FileFacts>> List(const std::string& folder) = 0;
  virtual Result<FileFacts> Look(const std::string& path) = 0;
  // Sets the modification time. A fault means nothing: the file is taken for older than it is.
  virtual void Touch(const std::string& path, int64_t used_s) = 0;
};

// The system's. Lives until the process ends.
Disk& SystemDisk();

}  // namespace galley::vfs
