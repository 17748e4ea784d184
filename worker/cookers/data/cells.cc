#include "worker/cookers/data/cells.h"

#include <cmath>
#include <optional>
#include <string_view>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/data/references.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

constexpr double kIndexMax = 2147483648.0;  // 2^31

bool HasPosition(const Json& item) {
  if (!item.is_object()) return false;
  const auto position = item.find("position");
  if (position == item.end() || !position->is_array() || position->size() != 3) return false;
  for (const Json& coordinate : *position) {
    if (!coordinate.is_number()) return false;
  }
  return true;
}

absl::StatusOr<int64_t> CellIndex(double coordinate, double cell_size, size_t item) {
  const double index = std::floor(coordinate / cell_size);
  if (!(std::fabs(index) < kIndexMax)) {
    return VerdictError("/items/{}/position: {} is more than 2^31 cells of {} from the origin",
                        item, coordinate, cell_size);
  }
  return static_cast<int64_t>(index);
}

absl::Status RewriteReferences(Json& item, const std::string& pointer) {
  return VisitReferences(
      item, pointer,
      [](const FoundReference& reference) -> absl::Status {
        auto seen = SeenFromGenerated(*reference.path);
        if (!seen.ok()) return Annotate(seen.status(), reference.pointer);
        *reference.path = *std::move(seen);
        return absl::OkStatus();
      },
      [](std::string_view, std::string_view) {});
}

}  // namespace

absl::StatusOr<Cells> TakeCells(Json& value, double cell_size) {
  Cells cells;
  if (!value.is_object()) return cells;
  const auto items = value.find("items");
  if (items == value.end() || !items->is_array()) return cells;
  Json kept = Json::array();
  for (size_t i = 0; i < items->size(); ++i) {
    Json& item = (*items)[i];
    if (!HasPosition(item)) {
      kept.push_back(std::move(item));
      continue;
    }
    ASSIGN_OR_RETURN(const int64_t x, CellIndex(item["position"][0].get<double>(), cell_size, i));
    ASSIGN_OR_RETURN(const int64_t z, CellIndex(item["position"][2].get<double>(), cell_size, i));
    RETURN_IF_ERROR(RewriteReferences(item, fmt::format("/items/{}", i)));
    Json& cell = cells.try_emplace({x, z}, Json::array()).first->second;
    cell.push_back(std::move(item));
    if (cells.size() > kCellsMax) {
      return VerdictError("cell_size {} gives more than {} cells; choose a larger one", cell_size,
                          kCellsMax);
    }
  }
  *items = std::move(kept);
  return cells;
}

std::string CellName(const std::pair<int64_t, int64_t>& cell) {
  return fmt::format("_gen/cell_{}_{}.level", cell.first, cell.second);
}

}  // namespace galley::worker
