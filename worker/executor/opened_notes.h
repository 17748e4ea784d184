// OpenedNotes: the looks of an executor's present job, in memory that its session can still read
// after the executor was killed; also whether the job's load is over, and the session's message
// that the job's time is up.
//
// The notes are a file in memory (memfd_create) that the session makes for each executor, and that
// both have open. The file has its full size from the beginning, cannot be cut, and takes memory
// only for what is written:
//
//   offset  bytes  little-endian
//        0      8  the attempt that the notes belong to
//        8      8  size of the notes; kNotKnown: an attempt that is killed now does not know all of
//                  its looks (a look is under way, or a program reads unseen)
//       16      8  the attempt whose time is up, written by the session
//       24      8  the last attempt whose load is over; the message that says so comes later
//       64   size  v1::Opened, in pieces: their concatenation is the message
//
// Both sides are of the same build, so there is no version. The executor writes into a map of the
// file, bytes first and their size last. A reader after a kill finds the notes before a look, the
// notes after it, or that they are not known.
//
// Cost of a new look: a piece (the same v1::Opened object each time) that is written straight to
// its place, and three stores; 0.2 us and no system call, and nobody is woken up. IsTimeUp is a
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

// The looks of an attempt with larger notes are not known.
inline constexpr uint64_t kNotesBytesMax = 64 << 10;

// The executor's side.
class OpenedNotes {
 public:
  // With no file, or a file that is not from MakeOpenedNotes, nothing is noted, and IsTimeUp is
  // always false.
  explicit OpenedNotes(int file);
  ~OpenedNotes();
  OpenedNotes(const OpenedNotes&) = delete;
  OpenedNotes& operator=(const OpenedNotes&) = delete;

  void BeginJob(uint64_t attempt);
  // A load or a cook for the platform begins; its looks so far are `observed`.
  void Begin(uint32_t platform, const Digest& source,
             const std::map<record::Observation, std::string>& observed);
  // Called around a look, and while a program reads unseen. The calls may nest.
  void BeginUnknown();
  void EndUnknown();
  void Add(const record::Observation& what, const std::string& value);
  // The load of the present job is over; the message of the job's first save will say so.
  void NoteLoaded();
  // Whether the session says that the time of the present job is up.
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
  v1::Opened piece_;  // reused, to keep its memory
};

// The session's side.
absl::StatusOr<FileDescriptor> MakeOpenedNotes();
// Reads the notes of an attempt, and checks that they are canonical and whole. nullopt: not all
// looks of the attempt are known.
std::optional<v1::Opened> ReadOpenedNotes(int file, uint64_t attempt);
bool WasLoaded(int file, uint64_t attempt);
void TellTimeIsUp(int file, uint64_t attempt);

}  // namespace galley::worker
