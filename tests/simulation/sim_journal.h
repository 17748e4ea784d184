// SimJournal: the product's journal (StoredJournal) on the simulation's disk, with a log of batches
// instead of RocksDB. The properties of RocksDB hold: a batch is whole or absent, and a synced
// batch keeps all earlier batches. After a failed sync nothing more is written until the journal is
// opened anew (https://github.com/facebook/rocksdb/wiki/Background-Error-Handling). An opener
// writes the entries that it finds in the log to a file of its own and syncs it, before anybody is
// told, as RocksDB flushes recovered entries.
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
  // Throws Disk::Crash: the journal cannot be opened.
  explicit SimJournal(Disk& disk);

  absl::StatusOr<std::optional<director::PackageRecord>> Find(std::string_view package) override;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override;
  void Fence(std::function<absl::Status()> may_write) override {
    fence_ = director::WriteFence(std::move(may_write));
  }
  // Whether a sync has failed.
  bool is_broken() const { return is_broken_; }
  // Asked at each read of a package's record, and of the packages that changes affect. True: it
  // fails.
  std::function<bool()> fails;
  // Called at each write that succeeds.
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
