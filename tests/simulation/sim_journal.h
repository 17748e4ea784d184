// SimJournal: the product's journal (StoredJournal) on the simulation's disk, in a log of batches
// in place of RocksDB. As there, a batch is whole or absent, and a synced one keeps all before it;
// after a failed sync nothing more is written until it is opened anew
// (https://github.com/facebook/rocksdb/wiki/Background-Error-Handling); and what an opener finds in
// the log it writes to a file of its own and syncs, before anybody is told (as RocksDB flushes what
// it recovers).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "director/journal/stored_journal.h"
#include "director/journal/write_fence.h"
#include "tests/simulation/disk.h"

namespace galley::simulation {

class SimJournal final : public director::StoredJournal, private director::JournalEntries {
 public:
  // Throws Disk::Crash: it cannot be opened.
  explicit SimJournal(Disk& disk);

  absl::StatusOr<std::optional<director::PackageRecord>> Find(std::string_view package) override;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override;
  void Fence(std::function<absl::Status()> may_write) override {
    fence_ = director::WriteFence(std::move(may_write));
  }
  // A sync failed.
  bool is_broken() const { return is_broken_; }
  // Asked at each read of a package's record, and of who is affected by changes.
  std::function<bool()> fails;
  // Called at each write that goes through.
  std::function<void()> wrote;

 private:
  absl::Status With(StoredJournal::Work work) override { return work(*this); }
  absl::StatusOr<std::optional<std::string>> Get(const std::string& key) override;
  absl::Status Each(std::string_view prefix, Visit visit) override;
  absl::Status Write(const director::JournalChanges& changes, bool sync) override;

  absl::Status Fails() const;
  void Apply(const director::JournalChanges& changes);
  static std::string FrameOf(const director::JournalChanges& changes);
  void Recover();
  void WriteAnew();

  Disk& disk_;
  std::map<std::string, std::string> entries_;
  director::WriteFence fence_;
  bool is_broken_ = false;
};

}  // namespace galley::simulation
