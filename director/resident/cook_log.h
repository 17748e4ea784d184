// CookLog: the events of one cook, in a file below the state folder, for readers during the cook
// and later. The cook never waits for a reader; each reader reads from the beginning, at its own
// pace.
//
//   file       "galley-cook-log 1\n", then each event: its size (4 bytes, little endian), its bytes
//              (CookEvent, director.proto). The last event is the report.
//   progress   only the newest progress event is kept, in memory
//   limit      beyond it, results and lines for people are left out, and counted (`missed`);
//              failures, warnings and the report are always kept
//
// A full disk does not end the cook: events that cannot be written stay in memory, within a limit.
// Version rule: the number in the first line is raised when an older reader must not read the file.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "director/serve/client_calls.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

class CookLog {
 public:
  struct Limits {
    uint64_t file_bytes = 256 << 20;
    size_t buffer_bytes = 64 << 10;    // written together
    size_t unwritten_bytes = 4 << 20;  // kept in memory when the disk is full
  };

  // Begins the log of a cook.
  static std::shared_ptr<CookLog> Begin(const std::string& path, const Limits& limits);
  // Opens the log of a cook that has ended. If the director died before the report, the log ends
  // with a report that says so. NOT_FOUND: no file; DATA_LOSS: the file is no log, or of another
  // version.
  static absl::StatusOr<std::shared_ptr<CookLog>> Open(const std::string& path);

  void Append(const v1::CookEvent& event);
  void SetProgress(v1::CookProgress progress);
  // Appends the report. Called once, last. Readers get `trace` after the report; the file does not
  // hold it.
  void End(const v1::CookReport& report, std::string trace);

  uint32_t readers() const { return readers_; }

  static std::unique_ptr<CookReader> Read(std::shared_ptr<CookLog> log);

 private:
  class Reader;

  CookLog(FileDescriptor file, const Limits& limits) : limits_(limits), file_(std::move(file)) {}
  bool HasRoomFor(const v1::CookEvent& event) const GALLEY_REQUIRES(mutex_);
  void Add(const v1::CookEvent& event) GALLEY_REQUIRES(mutex_);
  void Flush() GALLEY_REQUIRES(mutex_);

  const Limits limits_;
  const FileDescriptor file_;  // invalid: the file could not be made
  std::atomic<uint32_t> readers_ = 0;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  uint64_t written_ GALLEY_GUARDED_BY(mutex_) = 0;  // bytes of the log that are in the file
  std::string buffer_ GALLEY_GUARDED_BY(mutex_);    // bytes of the log that follow
  uint64_t missed_ GALLEY_GUARDED_BY(mutex_) = 0;
  // Packages that failed. Their later results are never left out, because they revoke the failure.
  std::set<std::string> failed_ GALLEY_GUARDED_BY(mutex_);
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string trace_ GALLEY_GUARDED_BY(mutex_);  // constant after the end
  v1::CookProgress progress_ GALLEY_GUARDED_BY(mutex_);
  uint64_t progress_number_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::director
