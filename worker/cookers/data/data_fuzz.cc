// The whole cooker on foreign bytes; the first byte picks the size of cells. The cooked value
// equals the source's, and every cell that was cut off cooks on its own.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/data/data_cooker.h"
#include "worker/cookers/data/json_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::worker;
  constexpr std::array kCellSizes = {0.0, 1.0, 64.0, 0.001};
  static const std::unique_ptr<Cooker> cooker = CreateDataCooker();
  if (size == 0) return 0;
  const double cell_size = kCellSizes[data[0] % kCellSizes.size()];
  const std::string source(reinterpret_cast<const char*>(data) + 1, size - 1);
  FakeCookContext context(cooker->description(), "/Game/a.level", source,
                          {{"cell_size", cell_size}});
  const absl::Status status = LoadAndCook(*cooker, context);
  GALLEY_CHECK(status.ok() || absl::IsInvalidArgument(status));
  if (!status.ok()) return 0;
  const nlohmann::json cooked = nlohmann::json::from_cbor(context.output(".cbor"));
  if (cell_size == 0) GALLEY_CHECK(cooked == *ParseJsonSource(source));
  size_t items = 0;
  for (const auto& [name, cell] : context.generated()) {
    const auto value = ParseJsonSource(cell.bytes);
    GALLEY_CHECK(value.ok() && value->at("items").size() > 0);
    items += value->at("items").size();
  }
  if (items > 0) {
    GALLEY_CHECK(cooked.at("$cells").size() == context.generated().size());
    GALLEY_CHECK(static_cast<double>(items + cooked.at("items").size()) ==
                 std::get<double>(context.tags().at("items")));
  }
  return 0;
}
