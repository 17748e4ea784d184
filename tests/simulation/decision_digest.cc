#include "tests/simulation/decision_digest.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/base/strong_id.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a reader of its effects

namespace {

// The fields of each type that a decision consists of.
auto FieldsOf(const Digest& of) { return std::tuple(of.ToString()); }
template <typename Tag>
auto FieldsOf(const StrongId<Tag>& of) {
  return std::tuple(of.value());
}
auto FieldsOf(absl::Duration of) { return std::tuple(absl::ToInt64Nanoseconds(of)); }
auto FieldsOf(const CookedResult& of) { return std::tie(of.package, of.platform, of.result); }
auto FieldsOf(const Waited& of) { return std::tie(of.request, of.queue, of.in_hand, of.attempts); }
auto FieldsOf(const InstigatorView& of) { return std::tie(of.category, of.referencer); }
auto FieldsOf(const QueryAsked::Cursor& of) { return std::tie(of.cook, of.package, of.reason); }
auto FieldsOf(const LookUp::Item& of) {
  return std::tie(of.package, of.platforms, of.generation, of.cooked);
}
auto FieldsOf(const LookUp& of) { return std::tie(of.items); }
auto FieldsOf(const Desire::Start& of) {
  return std::tie(of.attempt, of.package, of.platforms, of.cooked, of.expected, of.memory_bytes,
                  of.urgency, of.is_awaited, of.runs_alone);
}
auto FieldsOf(const Desire::Part& of) { return std::tie(of.attempt, of.platforms); }
auto FieldsOf(const Desire& of) {
  return std::tie(of.worker, of.start, of.cancel, of.retract, of.retract_part, of.persisted,
                  of.resend_all, of.drain, of.start_another);
}
auto FieldsOf(const Spawn& of) { return std::tie(of.worker, of.delay); }
auto FieldsOf(const Stop& of) { return std::tie(of.worker); }
auto FieldsOf(const Persist::Item& of) {
  return std::tie(of.package, of.platform, of.result, of.was_cooked, of.waited, of.cook,
                  of.is_forced, of.may_be_stored);
}
auto FieldsOf(const Persist& of) { return std::tie(of.items, of.is_urgent); }
auto FieldsOf(const Rescan& of) { return std::tie(of.paths); }
auto FieldsOf(const BuildRoot& of) {
  return std::tie(of.platform, of.packages, of.platform_set, of.round, of.request,
                  of.is_difference);
}
auto FieldsOf(const PublishRoot& of) {
  return std::tie(of.platform, of.root, of.by_the_book, of.platform_set, of.round, of.request);
}
auto FieldsOf(const StageRoots& of) { return std::tie(of.round, of.request); }
auto FieldsOf(const LookForLost& of) { return std::tie(of.look, of.packages, of.request); }
auto FieldsOf(const PackageFailed& of) {
  return std::tie(of.package, of.platform, of.stage, of.error, of.log, of.cause, of.attempt,
                  of.worker, of.attempts, of.own_faults, of.infrastructure_faults, of.verdict);
}
auto FieldsOf(const PackageWarned& of) {
  return std::tie(of.package, of.platform, of.kind, of.text, of.is_passing);
}
auto FieldsOf(const PackageDone& of) {
  return std::tie(of.package, of.platform, of.result, of.source);
}
auto FieldsOf(const PackageLeft& of) { return std::tie(of.package); }
auto FieldsOf(const PackageBlamed& of) {
  return std::tie(of.package, of.own_faults, of.what, of.error, of.log);
}
auto FieldsOf(const WorkerQuarantined& of) {
  return std::tie(of.worker, of.package, of.platform, of.others, of.unproven);
}
auto FieldsOf(const WorkerHeld& of) { return std::tie(of.worker, of.machine, of.why, of.is_over); }
auto FieldsOf(const WorkerViolated& of) { return std::tie(of.worker, of.session, of.why); }
auto FieldsOf(const CookBegan& of) { return std::tie(of.request, of.slot); }
auto FieldsOf(const CookEnded& of) {
  return std::tie(of.request, of.is_interrupted, of.is_fail_fast, of.infrastructure_error,
                  of.is_empty);
}
auto FieldsOf(const Notify& of) { return std::tie(of.notice, of.cooks); }
auto FieldsOf(const Reply::Reason& of) { return std::tie(of.package, of.why); }
auto FieldsOf(const Reply::Package& of) {
  return std::tie(of.package, of.state, of.urgency, of.attempt, of.worker, of.attempts,
                  of.own_faults, of.infrastructure_faults);
}
auto FieldsOf(const Reply& of) {
  return std::tie(of.query, of.error, of.package, of.reasons, of.next);
}

class Hasher {
 public:
  explicit Hasher(uint64_t so_far) : value_(so_far) {}
  uint64_t value() const { return value_; }

  void Add(const std::string& text) {
    Add(text.size());
    value_ = Fnv1a(text, value_);
  }
  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T number) {
    const auto wide = static_cast<uint64_t>(number);
    value_ = Fnv1a(std::string_view(reinterpret_cast<const char*>(&wide), sizeof wide), value_);
  }
  template <typename T>
  void Add(const std::optional<T>& one) {
    Add(one.has_value());
    if (one.has_value()) Add(*one);
  }
  template <typename T>
  void Add(const std::vector<T>& all) {
    Add(all.size());
    for (const T& one : all) Add(one);
  }
  template <typename A, typename B>
  void Add(const std::pair<A, B>& pair) {
    Add(pair.first);
    Add(pair.second);
  }
  template <typename... T>
  void Add(const std::variant<T...>& one) {
    Add(one.index());
    std::visit([this](const auto& held) { Add(held); }, one);
  }
  template <typename T>
  requires requires(const T& of) { FieldsOf(of); }
  void Add(const T& of) {
    std::apply([this](const auto&... fields) { (Add(fields), ...); }, FieldsOf(of));
  }

 private:
  uint64_t value_;
};

}  // namespace

void DecisionDigest::Add(absl::Time now, std::span<const Effect> effects) {
  if (effects.empty()) return;
  Hasher hasher(value_);
  hasher.Add(absl::ToUnixNanos(now));
  for (const Effect& effect : effects) hasher.Add(effect);
  value_ = hasher.value();
}

}  // namespace galley::simulation
