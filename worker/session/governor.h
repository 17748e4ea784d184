// Governor: whether the machine, or the control group, has enough memory left for another job.
//
// The need of another job is estimated from the recent use of executors, but is at least an eighth
// of the limit or 256 MiB, whichever is less, and at most half of the limit. Memory is short when
// less than the need is left, and stays short until a quarter more is left. If the memory that is
// left is unknown, memory is never short.
//
// A young job has not taken its memory yet, so memory is reserved for the job until it has run for
// a whole period between two samples. The owner counts young jobs. Other sessions of the machine
// are seen only by the memory that they use. Pure.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/memory_limit.h"

namespace galley::worker {

class Governor {
 public:
  // `executor_bytes`: the present memory of the largest executor. `holds_last_slot`: this session
  // is the machine's only session that works on, with one slot, while memory is short. True:
  // is_short() changed.
  bool Sample(const MemoryRoom& room, uint64_t executor_bytes, bool holds_last_slot = false);

  // The number of samples that were taken.
  uint64_t samples() const { return samples_; }
  // Whether a job that began after sample number `began` may not have taken its memory yet.
  bool IsYoung(uint64_t began) const { return samples_ < began + 2; }
  // Whether enough memory is left for another job beside `young_jobs`.
  bool HasRoomBeside(uint64_t young_jobs) const;

  bool is_short() const { return is_short_; }
  bool holds_last_slot() const { return holds_last_slot_; }
  // The memory that must be left for another job to begin.
  uint64_t need_bytes() const { return need_bytes_; }
  uint64_t limit_bytes() const { return limit_bytes_; }
  // True: the limit differs by more than an eighth from the limit that was told last, and counts as
  // told from now on.
  bool TellLimit();
  // For the log: "12 bytes are left (machine), another job may take 34".
  std::string Describe() const;

 private:
  uint64_t limit_bytes_ = 0;
  uint64_t told_bytes_ = 0;
  uint64_t need_bytes_ = 0;
  uint64_t used_bytes_ = 0;  // by the largest executor, with decay
  uint64_t left_bytes_ = 0;
  bool is_left_known_ = false;
  uint64_t samples_ = 0;
  std::string left_source_;
  bool is_short_ = false;
  bool holds_last_slot_ = false;
};

}  // namespace galley::worker
