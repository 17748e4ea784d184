// ReportOutbox: the reports of a session, from when they are made until the director has persisted
// them. Reports are numbered from 1 without holes over the session's life. On a new stream all kept
// reports are sent again.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "galley/v1/worker.pb.h"

namespace galley::worker {

inline constexpr size_t kReportsInMessageMax = 256;
inline constexpr size_t kReportBytesInMessageMax = 1 << 20;

class ReportOutbox {
 public:
  // Haste: how long a report may wait for others that travel with it. kPressing: the director must
  // act upon it, so that it goes with the next message. kAtOnce: a person waits, so that a message
  // goes at once, however often.
  enum class Haste : uint8_t { kNone, kPressing, kAtOnce };
  void AddReport(uint64_t attempt, v1::Report report, Haste haste);
  void DropPersisted(uint64_t report);
  void SendAllAgain() { sent_ = 0; }
  // Adds as many unsent reports as a message may have.
  void AddUnsent(v1::FromWorker& message);

  bool HasUnsent() const { return !reports_.empty() && reports_.rbegin()->first > sent_; }
  // The most hasty report that is unsent.
  Haste haste() const { return haste_; }
  // Whether the end of the attempt was reported, and is kept.
  bool HasEndOf(uint64_t attempt) const { return ended_.contains(attempt); }
  // This report and all earlier reports are persisted.
  uint64_t persisted() const { return (reports_.empty() ? next_ : reports_.begin()->first) - 1; }
  size_t size() const { return reports_.size(); }

 private:
  std::map<uint64_t, v1::Report> reports_;  // by number
  std::set<uint64_t> ended_;                // attempts whose end is kept
  uint64_t next_ = 1;
  uint64_t sent_ = 0;  // the last report that was sent on the present stream
  Haste haste_ = Haste::kNone;
};

}  // namespace galley::worker
