// Queries as people and programs write them: no crash, no hang, and each error at a column of the
// text. What can be parsed is asked of a small registry.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "director/registry/registry_query.h"

namespace galley::director {
namespace {

std::shared_ptr<const RegistryTable> SmallTable() {
  static const std::shared_ptr<const RegistryTable> table = [] {
    std::vector<RegistryRow> rows(3);
    rows[0] = {.package = "/Game/a",
               .cooker = "texture",
               .known = 1,
               .tags = {{"width", 5.0, 1}, {"format", std::string("bc7"), 1}},
               .edges = {{"/Game/b", EdgeKind::kHard, 1}},
               .reasons = {{0, ""}}};
    rows[1] = {.package = "/Game/b", .edges = {{"/Game/a", EdgeKind::kSoft, 1}}};
    rows[2] = {.package = "/Game/c", .is_never = true};
    return *RegistryTable::FromBytes(*RegistryTable::Encode({}, {"pc"}, rows));
  }();
  return table;
}

}  // namespace
}  // namespace galley::director

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseQuery(text);
  if (const auto* const error = std::get_if<QueryError>(&parsed)) {
    GALLEY_CHECK(error->column >= 1 && error->column <= size + 1 && !error->text.empty());
    GALLEY_CHECK(!ShowQueryError(text, *error).empty());
    return 0;
  }
  const galley::Cancellation stop;
  for (const bool has_unfollowed : {false, true}) {
    const QueryOutcome outcome = RunQuery(std::get<QueryNode>(parsed), SmallTable(),
                                          {.has_unfollowed = has_unfollowed}, stop);
    if (const auto* const answer = std::get_if<QueryAnswer>(&outcome))
      GALLEY_CHECK(answer->packages.size() <= 3);
    GALLEY_CHECK(!std::holds_alternative<absl::Status>(outcome));
  }
  return 0;
}
