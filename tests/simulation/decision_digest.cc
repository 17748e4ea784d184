#include "tests/simulation/decision_digest.h"

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

// Returns the fields of an aggregate of 1 to 12 fields, in order; others do not compile. An
// aggregate has as many fields as it takes initialisers.
template <typename T>
auto FieldsOf(const T& of) {
  if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i] = of;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h] = of;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g] = of;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f] = of;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (requires { T{{}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e] = of;
    return std::tie(a, b, c, d, e);
  } else if constexpr (requires { T{{}, {}, {}, {}}; }) {
    const auto& [a, b, c, d] = of;
    return std::tie(a, b, c, d);
  } else if constexpr (requires { T{{}, {}, {}}; }) {
    const auto& [a, b, c] = of;
    return std::tie(a, b, c);
  } else if constexpr (requires { T{{}, {}}; }) {
    const auto& [a, b] = of;
    return std::tie(a, b);
  } else if constexpr (requires { T{{}}; }) {
    const auto& [a] = of;
    return std::tie(a);
  }
}

class Hasher {
 public:
  explicit Hasher(uint64_t so_far) : value_(so_far) {}
  uint64_t value() const { return value_; }

  void Add(const Digest& of) { Add(of.ToString()); }
  void Add(absl::Duration of) { Add(absl::ToInt64Nanoseconds(of)); }
  void Add(const ResultViewPtr& of) { Add(of == nullptr ? ResultId() : of->id); }
  template <typename Tag>
  void Add(const StrongId<Tag>& of) {
    Add(of.value());
  }
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
  requires std::is_aggregate_v<T>
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
