// ForwardingJournal: a Journal, for tests, that forwards each call to another Journal. A test
// overrides the calls that it watches or breaks.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "director/journal/journal.h"

namespace galley::director {

class ForwardingJournal : public Journal {
 public:
  // `inner` must outlive the ForwardingJournal.
  explicit ForwardingJournal(Journal& inner) : inner_(inner) {}
  const JournalMeta& meta() const override { return inner_.meta(); }
  absl::Status SetMeta(const JournalMeta& meta) override { return inner_.SetMeta(meta); }
  absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) override {
    return inner_.Find(package);
  }
  absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) override {
    return inner_.InstigatorsOf(package);
  }
  absl::Status ForEach(const std::function<void(std::string_view, PackageRecord)>& visit) override {
    return inner_.ForEach(visit);
  }
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override {
    return inner_.Affected(changes);
  }
  absl::Status Invalidate(std::span<const std::string> packages, const JournalMeta& meta) override {
    return inner_.Invalidate(packages, meta);
  }
  absl::Status Record(std::span<const JournalUpdate> updates, bool sync) override {
    return inner_.Record(updates, sync);
  }
  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override {
    return inner_.RecordFailures(updates);
  }
  absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) override {
    return inner_.RecordInstigators(updates);
  }
  absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) override {
    return inner_.RecordPublished(platform, in, keys);
  }
  absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) override {
    return inner_.PublishedPackages(platform);
  }
  absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) override {
    return inner_.LastPublished(platform);
  }
  absl::Status RecordProgress(const JournalProgress& progress) override {
    return inner_.RecordProgress(progress);
  }
  absl::StatusOr<JournalProgress> Progress() override { return inner_.Progress(); }
  absl::Status ForgetProgress() override { return inner_.ForgetProgress(); }
  absl::Status Forget(std::span<const std::string> packages) override {
    return inner_.Forget(packages);
  }
  void Fence(std::function<absl::Status()> may_write) override {
    inner_.Fence(std::move(may_write));
  }

 protected:
  Journal& inner_;
};

}  // namespace galley::director
