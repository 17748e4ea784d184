// NameFilter: a CookFilter of names, for tests.
//
// Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "director/core/cook_filter.h"

namespace galley::director {

class NameFilter final : public CookFilter {
 public:
  using Names = std::set<std::string, std::less<>>;
  explicit NameFilter(Names never, Cultures cultures = std::nullopt)
      : never_(std::move(never)), cultures_(std::move(cultures)) {}

  bool has_never() const override { return !never_.empty(); }
  bool IsNever(std::string_view package) const override { return never_.contains(package); }
  const Cultures& cultures() const override { return cultures_; }

 private:
  const Names never_;
  const Cultures cultures_;
};

inline std::shared_ptr<const CookFilter> Never(NameFilter::Names names) {
  return std::make_shared<const NameFilter>(std::move(names));
}
inline std::shared_ptr<const CookFilter> OfCulture(std::string culture) {
  return std::make_shared<const NameFilter>(NameFilter::Names(),
                                            std::vector<std::string>{std::move(culture)});
}

}  // namespace galley::director
