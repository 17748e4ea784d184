// OpenedNotes: what the present job of an executor has looked at, in memory that its session can
// still read when the executor was killed; whether its load was over; and the session's word that
// the job's time is up.
//
// A file in memory (memfd_create) that both have open, made by the session for each executor. It
// has its full size from the beginning, cannot be cut, and takes memory for what is written only:
//
//   offset  bytes  little-endian
//        0      8  the attempt that the notes are of
//        8      8  size of the notes; kNotKnown: an attempt that is killed now does not know all
//                  that it had looked at (a look is under way, or a program reads unseen)
//       16      8  the attempt whose time is up, written by the session
//       24      8  the last attempt whose load was over, though that was not told yet
//       64   size  v1::Opened, in pieces: their concatenation is the message
//
// Both are of one build, so there is no version. The executor writes into a map of the file, bytes
// first and their size last: a reader after a kill finds the notes of before a look, those of
// after it, or that they are not known.
//
// Cost of a new look: one piece (v1::Opened in the same object each time) that is written to where
// it belongs, and three stores; 0.2 us and no system call, and nobody is woken up. IsTimeUp is one
// load.
// Threads: one owner on each side.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/record/observation.h"
#include "galley/v1/worker.pb.h"

namespace galley::worker {

inline constexpr uint64_t kNotesBytesMax = 64 << 10;  // what looked at more does not know it

// The executor's side.
class OpenedNotes {
 public:
  // No file, or not one of MakeOpenedNotes: nothing is noted, and no time is up.
  explicit OpenedNotes(int file);
  ~OpenedNotes();
  OpenedNotes(const OpenedNotes&) = delete;
  OpenedNotes& operator=(const OpenedNotes&) = delete;

  void BeginJob(uint64_t attempt);
  // A load or a cook for the platform begins, which knows this much by now.
  void Begin(uint32_t platform, const Digest& source,
             const std::map<record::Observation, std::string>& observed);
  // Around a look, and while a program reads unseen; the calls may nest.
  void BeginUnknown();
  void EndUnknown();
  void Add(const record::Observation& what, const std::string& value);
  // The load of the present job is over, and is told with what it saves.
  void NoteLoaded();
  // The session says that the time of the present job is up.
  bool IsTimeUp() const;

 private:
  void Append(const record::Observation& what, const std::string& value);
  void AppendPiece();
  void Clear();
  void WriteSize();

  uint8_t* map_ = nullptr;
  uint64_t attempt_ = 0;
  uint64_t size_ = 0;
  int unknown_ = 0;
  bool is_full_ = false;
  v1::Opened piece_;  // kept for the memory that it holds
};

// The session's side.
absl::StatusOr<FileDescriptor> MakeOpenedNotes();
// nullopt: it is not known, or not the whole. What it names is checked: canonical, and whole.
std::optional<v1::Opened> ReadOpenedNotes(int file, uint64_t attempt);
bool WasLoaded(int file, uint64_t attempt);
void TellTimeIsUp(int file, uint64_t attempt);

}  // namespace galley::worker
