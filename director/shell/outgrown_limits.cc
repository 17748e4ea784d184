#include "director/shell/outgrown_limits.h"

#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

OutgrownLimits::OutgrownLimits(const std::string& state_directory, LimitAnswers::Options options,
                               Deps deps)
    : deps_(std::move(deps)),
      kept_(state_directory),
      answers_({.sources = deps_.sources, .kept = &kept_}, std::move(options)) {}

std::string OutgrownLimits::Keep(const PackageFailed& failed) {
  if (failed.attempt == 0) return "";
  std::optional<KeptLimit> seen = deps_.reports.OutgrownIn(failed.attempt);
  absl::Status kept = deps_.has_room ? deps_.has_room() : absl::OkStatus();
  if (!seen) kept = absl::NotFoundError("too many other attempts failed since");
  if (kept.ok()) {
    const std::string what = answers_.WhatIsKept(seen->kind);
    kept = answers_.Keep(*std::move(seen), failed, deps_.clock.Now());
    if (kept.ok()) {
      deps_.tasks.Post([this] { Save(); });
      return "; " + what;
    }
  }
  return fmt::format("; this is not kept for the next cook: {}", MessageOf(kept));
}

void OutgrownLimits::WithdrawAll(const ResultTable& results, const std::vector<ResultId>& cooked) {
  for (const ResultId id : cooked) {
    const StoredResultPtr stored = results.Get(id);
    if (stored != nullptr) kept_.Withdraw(stored->weak_key, stored->observed);
  }
  Save();
}

void OutgrownLimits::Save() {
  if (kept_.is_saved()) return;
  absl::Status saved = deps_.may_write ? deps_.may_write() : absl::OkStatus();
  if (saved.ok()) saved = kept_.Save();
  if (saved.ok()) return;
  const std::string text = fmt::format(
      "what outgrew its limits could not be written down, and is tried again in the next cook: {}",
      MessageOf(saved));
  LogWarning("{}", text);
  deps_.warn(text);
}

}  // namespace galley::director
