#include "director/shell/memory_guard.h"

#include <algorithm>
#include <tuple>

#include "common/base/human_bytes.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(1);
// Giving memory back takes a while, and above the soft limit there may be nothing to give.
constexpr absl::Duration kTrimPeriod = absl::Seconds(10);
// The claims of an ended cook are released step by step.
constexpr absl::Duration kEndPeriod = absl::Seconds(5);

}  // namespace

MemoryGuard::Want MemoryGuard::Look(absl::Time now, bool is_any_running) {
  if (hard_bytes_ == 0 || now - looked_ < kPeriod) return Want::kNothing;
  looked_ = now;
  used_ = deps_.used();
  const bool is_over = used_ > hard_bytes_;
  if (const bool is_short = used_ > soft_bytes(); is_short != is_short_) {
    is_short_ = is_short;
    deps_.set_short(is_short);
  }
  if (is_short_ && (is_over || now - trimmed_ >= kTrimPeriod)) {
    trimmed_ = now;
    deps_.trim();
    used_ = deps_.used();
  }
  if (!is_any_running) idle_ = used_;
  if (used_ <= soft_bytes()) return Want::kNothing;
  if (used_ <= hard_bytes_ || !is_any_running || now - ended_ < kEndPeriod) return Want::kLetGo;
  ended_ = now;
  return Want::kEndACook;
}

const MemoryGuard::Cook& MemoryGuard::Choose(const std::vector<Cook>& cooks) {
  return *std::ranges::min_element(cooks, [](const Cook& a, const Cook& b) {
    return std::tuple(a.urgency_class, b.number) < std::tuple(b.urgency_class, a.number);
  });
}

std::string MemoryGuard::ReasonFor(const Cook& cook, const std::vector<Cook>& cooks) const {
  uint64_t packages = 0;
  for (const Cook& one : cooks) packages += one.packages;
  const uint64_t of_cooks = used_ - std::min(used_, idle_);
  const uint64_t of_one = of_cooks / std::max<uint64_t>(1, packages);
  const uint64_t needed = idle_ + of_one * std::max(cook.packages, cook.asked);
  return fmt::format(
      "the director uses {} of memory, and may use {} ([director] memory): this cook has {} "
      "packages so far, of about {} each, and alone it would need at least {}; give the director "
      "more memory, cook less at once, or ask again when other cooks are over. What was finished "
      "is kept",
      HumanBytes(used_), HumanBytes(hard_bytes_), cook.packages, HumanBytes(of_one),
      HumanBytes(std::max(needed, cooks.size() == 1 ? used_ : needed)));
}

}  // namespace galley::director
