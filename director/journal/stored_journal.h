// StoredJournal: a journal in its stored form (keys.h, index.h, encoding.h) over sorted entries,
// which lie in RocksDB (journal.cc), or on the disk of the simulation.
//
// Threads: as Journal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "director/journal/index.h"
#include "director/journal/journal.h"
#include "director/journal/journal_changes.h"

namespace galley::director {

// JournalEntries: the entries during one call.
class JournalEntries {
 public:
  using Visit = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;

  virtual ~JournalEntries() = default;
  virtual absl::StatusOr<std::optional<std::string>> Get(const std::string& key) = 0;
  // Visits each entry whose key begins with `prefix`, in the order of keys; an error of `visit`
  // ends the scan.
  virtual absl::Status Each(std::string_view prefix, Visit visit) = 0;
  // Like Each, for a large part of all entries.
  virtual absl::Status EachOfMany(std::string_view prefix, Visit visit) {
    return Each(prefix, visit);
  }
  // Writes all changes, or none.
  virtual absl::Status Write(const JournalChanges& changes, bool sync) = 0;
};

class StoredJournal : public Journal {
 public:
  const JournalMeta& meta() const final { return meta_; }
  absl::Status SetMeta(const JournalMeta& meta) final { return Invalidate({}, meta); }

  absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) override;
  absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) final;
  absl::Status ForEach(const std::function<void(std::string_view, PackageRecord)>& visit) final;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override;
  absl::Status Invalidate(std::span<const std::string> packages, const JournalMeta& meta) override;
  absl::Status Record(std::span<const JournalUpdate> updates, bool sync) override;
  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override;
  absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) final;
  absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) final;
  absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) final;
  absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) final;
  absl::Status RecordProgress(const JournalProgress& progress) final;
  absl::StatusOr<JournalProgress> Progress() final;
  absl::Status ForgetProgress() final;
  absl::Status Forget(std::span<const std::string> packages) override;
  absl::StatusOr<std::vector<UnsentResult>> Unsent() final;
  absl::Status ForgetUnsent(std::span<const UnsentResult> sent) final;

 protected:
  explicit StoredJournal(JournalMeta meta = {}) : meta_(std::move(meta)) {}
  void TakeMeta(JournalMeta meta) { meta_ = std::move(meta); }

  using Work = absl::FunctionRef<absl::Status(JournalEntries&)>;
  // Calls `work` with the entries; calls it once more, from its beginning, if the entries are
  // damaged and begun anew.
  virtual absl::Status With(Work work) = 0;
  // Returns true if the package has no entries, and need not be searched for.
  virtual bool IsUnknown(std::string_view /*package*/) const { return false; }
  virtual void NoteKnown(std::string_view /*package*/) {}

 private:
  using UpdatesOfPackage = std::map<std::string_view, const JournalUpdate*>;  // by platform

  // Calls `ask` in With, and returns its answer, a StatusOr.
  template <typename Ask>
  std::invoke_result_t<const Ask&, JournalEntries&> Answer(const Ask& ask) {
    std::invoke_result_t<const Ask&, JournalEntries&> answer = absl::UnknownError("nobody asked");
    RETURN_IF_ERROR(With([&](JournalEntries& entries) {
      answer = ask(entries);
      return answer.status();
    }));
    return answer;
  }

  absl::Status Reindex(JournalEntries& entries, std::string_view package,
                       const UpdatesOfPackage& updates, bool is_new, JournalChanges& changes);

  JournalMeta meta_;  // used by the writing thread
  // Held during writes of unsent results, because an unsent result is read before it is forgotten.
  base::Mutex unsent_mutex_;
};

}  // namespace galley::director
