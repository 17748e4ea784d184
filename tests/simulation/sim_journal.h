// SimJournal: the journal on the simulation's disk: the real keys and encodings, in a log of
// batches in place of RocksDB. As there, a batch is whole or absent, and a synced one keeps all
// before it; after a failed sync nothing more is written until it is opened anew
// (https://github.com/facebook/rocksdb/wiki/Background-Error-Handling); and what an opener finds in
// the log it writes to a file of its own and syncs, before anybody is told (as RocksDB flushes what
// it recovers).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "director/journal/journal.h"
#include "director/journal/write_fence.h"
#include "tests/simulation/disk.h"

namespace galley::simulation {

class SimJournal final : public director::Journal {
 public:
  // Throws Disk::Crash: it cannot be opened.
  explicit SimJournal(Disk& disk);

  const director::JournalMeta& meta() const override { return meta_; }
  absl::Status SetMeta(const director::JournalMeta& meta) override { return Invalidate({}, meta); }
  absl::StatusOr<std::optional<director::PackageRecord>> Find(std::string_view package) override;
  absl::StatusOr<std::vector<director::InstigatorRecord>> InstigatorsOf(
      std::string_view package) override;
  absl::Status ForEach(
      const std::function<void(std::string_view, director::PackageRecord)>& visit) override;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override;
  absl::Status Invalidate(std::span<const std::string> packages,
                          const director::JournalMeta& meta) override;
  absl::Status Record(std::span<const director::JournalUpdate> updates, bool sync) override;
  absl::Status RecordFailures(std::span<const director::FailureUpdate> updates) override;
  absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<director::InstigatorRecord>>> updates)
      override;
  absl::Status RecordPublished(
      std::string_view platform, const director::PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) override;
  absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) override;
  absl::StatusOr<director::PublishedIn> LastPublished(std::string_view platform) override;
  absl::Status RecordProgress(const director::JournalProgress& progress) override;
  absl::StatusOr<director::JournalProgress> Progress() override;
  absl::Status ForgetProgress() override;
  absl::Status Forget(std::span<const std::string> packages) override;
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
  using Batch = std::vector<std::pair<std::string, std::optional<std::string>>>;
  void Apply(const Batch& batch);
  static std::string FrameOf(const Batch& batch);
  absl::Status Write(const Batch& batch, bool sync);
  absl::StatusOr<std::optional<director::PackageRecord>> Read(std::string_view package);
  void Recover();
  void WriteAnew();

  Disk& disk_;
  std::map<std::string, std::string> entries_;
  director::JournalMeta meta_;
  director::WriteFence fence_;
  bool is_broken_ = false;
};

}  // namespace galley::simulation
