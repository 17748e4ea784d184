// Checks: the first violation of what must hold (docs/hacking.md, "Simulation", lists it). Its text
// begins with "safety:" or "liveness:".
//
// Checks also keeps the trace: a hash over all decisions, so that two runs of a seed can be
// compared. With `is_told` the trace is also printed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/fnv.h"
#include "common/store/interface/store.h"
#include "tests/simulation/decision_digest.h"

namespace galley::simulation {

class Checks {
 public:
  explicit Checks(bool is_told) : is_told_(is_told) {}

  void Break(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }
  const std::string& broken() const { return broken_; }

  void set_now(absl::Duration now) { now_ = now; }
  void Trace(std::string_view line) {
    if (is_told_) {
      std::fprintf(stderr, "%9.3f %.*s\n", absl::ToDoubleSeconds(now_),
                   static_cast<int>(line.size()), line.data());
    }
    trace_ = Fnv1a(line, trace_);
  }
  template <typename... T>
  void Trace(std::string_view kind, T... numbers) {
    std::string line(kind);
    ((line += " " + std::to_string(static_cast<uint64_t>(numbers))), ...);
    Trace(std::string_view(line));
  }
  uint64_t trace() const { return trace_; }

  // Over all cores that ran.
  DecisionDigest decisions;

  // Action keys of results that were promised to be durable.
  std::set<Digest> promised;
  // A bit of `blob` turned; since then its bytes are those that `now` names. Elsewhere, the same
  // bytes are a copy, or were found out and are believed again because the note of the finding is
  // not durable.
  //
  // When the file of a large blob rotted, a worker whose job makes the blob again overwrites the
  // file. The store knows the blob, and does not sync the new bytes: after a power cut the file may
  // be torn.
  void NoteRot(const Digest& blob, const Digest& now, bool is_file) {
    rotten_.emplace(blob, now);
    if (is_file) rotten_files_.insert(blob);
  }
  bool IsRotten(const Digest& blob, const Digest& now) const {
    return rotten_.contains({blob, now}) || rotten_files_.contains(blob);
  }
  // Blobs that a collection dropped.
  std::set<Digest> collected;
  // Somebody deleted the blob's bytes. Other bytes may be written in their place, as for a rotten
  // file.
  void NoteDestroyed(const Digest& blob) { rotten_files_.insert(blob); }
  // Segments that somebody deleted or cut: a worker that fills such a segment may overwrite a blob,
  // of which the store hears only later, and whose place then has other bytes.
  std::set<uint64_t> destroyed_segments;
  // The places of blobs when a root was made of them.
  std::map<Digest, store::BlobLocation> told_at;
  // Whether the blob lies, or lay, in a destroyed segment: its loss is the work of whoever
  // destroyed that.
  bool IsInDestroyed(const Digest& blob, const std::optional<store::BlobLocation>& now) const {
    const auto then = told_at.find(blob);
    return (now.has_value() && destroyed_segments.contains(now->segment)) ||
           (then != told_at.end() && destroyed_segments.contains(then->second.segment));
  }
  // Keys of results whose records somebody deleted: no promise holds for them any more.
  std::set<Digest> voided;
  // Outputs that only one worker makes in this way: they must never be committed.
  std::set<Digest> wrong;
  // Rotten blobs that somebody read, and that nobody made again yet.
  std::set<Digest> found_out;

 private:
  const bool is_told_;
  absl::Duration now_;
  std::string broken_;
  uint64_t trace_ = kFnvBasis;
  std::set<std::pair<Digest, Digest>> rotten_;
  std::set<Digest> rotten_files_;
};

}  // namespace galley::simulation
