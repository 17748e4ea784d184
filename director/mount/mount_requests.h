// MountRequests: answers the requests of the kernel about a mount, over a MountSource.
//
//   lookup    cooks nothing, but in folders of which only a cook tells what they have: a file that
//             is not cooked has the size 0 and attributes that the kernel does not keep; so `ls`
//             cooks nothing
//   getattr   cooks the file: its size is asked for
//   open      is ENOSYS: the kernel opens without asking, and keeps pages and attributes
//   opendir   waits for the packages of a folder of which only a cook tells what it has; so
//             readdir, which holds a lock of the kernel, does not wait
//
// A request that may wait runs on a thread of WaitPool, and ends when the caller is killed
// (InterruptedCallers).
//
// Source: libfuse's fuse_lowlevel.h.
// Threads: any; requests come from several.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "director/mount/fuse_api.h"
#include "director/mount/interrupted_callers.h"
#include "director/mount/mount_log.h"
#include "director/mount/mount_nodes.h"
#include "director/mount/mount_source.h"
#include "director/mount/open_files.h"
#include "director/mount/wait_pool.h"

namespace galley::mount {

class MountRequests {
 public:
  // The arguments outlive this object.
  MountRequests(MountSource& source, MountLog& log);

  // To be given to libfuse with this object as user data.
  static fuse_lowlevel_ops Operations();

  // `paths` may show something else. Tells the kernel to look up again the files that it knows;
  // returns those that have to be told later, because somebody waits for a look-up beside them.
  // Called without locks, and by one thread, while requests are still taken: the kernel may answer
  // only when a look-up beside the path has ended. `stop`: nothing more is told.
  std::vector<std::string> Renew(fuse_session* session, std::vector<std::string> paths,
                                 const std::atomic<bool>& stop);
  // The paths of the files that the kernel knows, and that are not what the source shows.
  // `is_all`: all of them; else those of generated packages, which no event names.
  std::vector<std::string> Outdated(bool is_all, const std::atomic<bool>& stop);
  // Waits until no request is under way. No request comes any more.
  void Stop();

 private:
  class Request;

  void LookUp(fuse_req_t req, uint64_t parent, const std::string& name);
  void GetAttributes(fuse_req_t req, uint64_t id);
  void Read(fuse_req_t req, uint64_t id, size_t size, uint64_t offset);
  void OpenFolder(fuse_req_t req, uint64_t id, const fuse_file_info& info);

  void Wait(fuse_req_t req, std::function<void(Request& request)> act);
  bool NeedsCook(const std::string& parent, const vfs::ShownPath& shown);
  void ReplyEntry(fuse_req_t req, const std::string& path, const vfs::ShownPath& shown);
  void ReplyFault(fuse_req_t req, const std::string& path, const vfs::Fault& fault);
  vfs::Result<vfs::ShownPath> LookSlowly(const std::string& parent, const std::string& path,
                                         const std::atomic<bool>& stop);
  vfs::Result<std::shared_ptr<vfs::OpenFile>> OpenNode(const MountNode& node,
                                                       const std::atomic<bool>& stop);
  static void ReplyBytes(fuse_req_t req, const vfs::OpenFile& file, size_t size, uint64_t offset);
  // LookUpNote: a look-up in a folder is under way, as long as it lives.
  class LookUpNote;

  MountSource& source_;
  MountLog& log_;
  MountNodes nodes_;
  OpenFiles files_;
  std::mutex mutex_;
  std::map<uint64_t, int> looking_up_;  // folders in which names are looked up; guarded by mutex_
  InterruptedCallers callers_;
  WaitPool pool_;
};

}  // namespace galley::mount
