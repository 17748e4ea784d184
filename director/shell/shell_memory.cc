// DirectorShell's memory beyond the cook: failures, and why each package is in the cook, for
// `galley why`; and kept limits.

#include <future>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/forget_results.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorShell::NoteFailure(CookSeat& seat, const PackageFailed& failed) {
  const FailureRecord record{.cook = static_cast<uint32_t>(seat.number()),
                             .time = clock_.Now(),
                             .stage = std::string(StageName(failed.stage)),
                             .error = failed.error,
                             .log = failed.log,
                             .cause = std::string(FailureCauseName(failed.cause)),
                             .worker = failed.worker.valid() ? WorkerName(failed.worker) : "",
                             .attempt = failed.attempt,
                             .attempts = failed.attempts,
                             .own_faults = failed.own_faults,
                             .infrastructure_faults = failed.infrastructure_faults};
  for (PlatformIndex p = 0; p < options_.core.platform_count; ++p) {
    if (!failed.platform ? (seat.order.request.platforms & MaskOf(p)) == 0 : *failed.platform != p)
      continue;
    seat.failures.Failed({core_->NameOf(failed.package), PlatformName(p)}, record);
  }
}

// Keeps the limit and returns what a person is told of that beside the error. (A failure that was
// kept by an earlier cook has no attempt.) A disk without room is the machine's fault, whatever
// failed for it.
std::string DirectorShell::KeepLimit(const PackageFailed& failed) {
  if (failed.attempt == 0) return "";
  std::optional<KeptLimit> seen = reports_.OutgrownIn(failed.attempt);
  absl::Status kept = options_.has_room ? options_.has_room() : absl::OkStatus();
  if (!seen) kept = absl::NotFoundError("too many other attempts failed since");
  if (kept.ok()) {
    const std::string what = limit_answers_.WhatIsKept(seen->kind);
    kept = limit_answers_.Keep(*std::move(seen), failed, clock_.Now());
    if (kept.ok()) {
      commit_thread_.Post([this] { SaveLimits(); });
      return "; " + what;
    }
  }
  return fmt::format("; this is not kept for the next cook: {}", MessageOf(kept));
}

absl::Status DirectorShell::Forget(const std::vector<std::string>& packages) {
  std::promise<absl::Status> forgotten;
  std::future<absl::Status> told = forgotten.get_future();
  commit_thread_.Post([this, &packages, &forgotten] {
    const absl::Status status = ForgetResults(packages, store_, journal_, kept_limits_);
    if (status.ok()) OnLoop([this, &packages] { StepCore(PackagesCleared{packages}); });
    forgotten.set_value(status);
  });
  return told.get();
}

// Commit thread.
void DirectorShell::SaveLimits() {
  if (kept_limits_.is_saved()) return;
  absl::Status saved = options_.may_write ? options_.may_write() : absl::OkStatus();
  if (saved.ok()) saved = kept_limits_.Save();
  if (saved.ok()) return;
  const std::string text = fmt::format(
      "what outgrew its limits could not be written down, and is tried again in the next cook: {}",
      MessageOf(saved));
  LogWarning("{}", text);
  Post(Internal(
      [this, text] { TellAll([text](ShellListener& one) { one.OnWarning("", "", text); }); }));
}

// Takes the failures that go to the journal with the group that is about to be committed.
std::vector<FailureUpdate> DirectorShell::TakeFailures() {
  std::vector<FailureNotes::Where> committed;
  for (const Persist::Item& item : pending_commit_) {
    if (const StoredResultPtr stored = results_.Get(item.result); stored != nullptr)
      committed.emplace_back(stored->package, stored->platform_name);
  }
  std::vector<FailureUpdate> updates;
  for (const auto& [number, seat] : seats_) {
    for (FailureUpdate& one : seat->failures.Take(committed)) updates.push_back(std::move(one));
  }
  return updates;
}

// Records the instigators after the cook, page by page, so that nothing holds them all.
absl::Status DirectorShell::RecordInstigators(const CookSeat& seat) {
  std::vector<bool> has_reason(core_->package_count());
  QueryAsked ask{.about = QueryAsked::About::kInstigators};
  // A package's reasons may be told over several pages: the last one waits for the next page.
  std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> records;
  PackageId last;
  while (true) {
    reply_.reset();
    StepCore(ask);
    if (!reply_ || !reply_->error.empty())
      return absl::InternalError("the core did not say why packages are in the cook");
    for (const Reply::Reason& reason : reply_->reasons) {
      if (reason.package != last)
        records.emplace_back(core_->NameOf(reason.package), std::vector<InstigatorRecord>());
      last = reason.package;
      has_reason[last.index()] = true;
      records.back().second.push_back(
          {static_cast<uint8_t>(reason.why.category),
           reason.why.referencer.valid() ? core_->NameOf(reason.why.referencer) : ""});
    }
    const bool is_last = !reply_->next;
    const size_t whole = is_last || records.empty() ? records.size() : records.size() - 1;
    RETURN_IF_ERROR(journal_.RecordInstigators(std::span(records).first(whole)));
    records.erase(records.begin(), records.begin() + static_cast<ptrdiff_t>(whole));
    if (is_last) break;
    ask.cursor = *reply_->next;
  }
  const CookEnded& ended = *seat.ended;
  const bool is_whole =
      !ended.is_interrupted && !ended.is_fail_fast && ended.infrastructure_error.empty();
  return seat.order.request.by_the_book && is_whole && !journal_.WasEmpty()
             ? ForgetInstigators(has_reason)
             : absl::OkStatus();
}

// Packages that the last cook by the book held and this one does not are in no cook any more.
absl::Status DirectorShell::ForgetInstigators(const std::vector<bool>& has_reason) {
  std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> gone;
  RETURN_IF_ERROR(journal_.ForEach([&](std::string_view name, const PackageRecord& record) {
    const PackageId id = core_->Find(name);
    if (record.instigators.empty() || (id.valid() && has_reason[id.index()])) return;
    gone.emplace_back(std::string(name), std::vector<InstigatorRecord>());
  }));
  return journal_.RecordInstigators(gone);
}

}  // namespace galley::director
