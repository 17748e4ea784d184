#include "worker/cookers/data/data_cooker.h"

#include <cmath>
#include <string>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/cbor/cbor.h"
#include "worker/cookers/data/cells.h"
#include "worker/cookers/data/json_source.h"
#include "worker/cookers/data/references.h"
#include "worker/cookers/source_looker.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

// The key under which the generating package keeps the references to its cells.
constexpr const char* kCellsKey = "$cells";
constexpr size_t kStrayWarningsMax = 20;

class DataCooker : public Cooker, public SourceLooker {
 public:
  DataCooker();
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  struct LoadedData : Loaded {
    std::string cbor;
  };

  record::CookerDescription description_;
};

DataCooker::DataCooker() {
  description_.name = "data";
  description_.identity = fmt::format("1;nlohmann-json={}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  description_.extensions = {"json", "level", "material"};
  description_.outputs = {{.suffix = ".cbor"}};
  description_.may_generate = true;
  description_.generates_if = "cell_size";
  description_.documentation = "JSON to deterministic CBOR; finds references.";
  description_.source_bytes_max = kJsonBytesMax;
  description_.settings = {
      {.name = "cell_size",
       .type = record::SettingType::kNumber,
       .default_json = "0",
       .documentation = "Edge of the square cells that the array `items` is cut into, each a "
                        "generated package; 0: not cut."},
  };
}

// Records references as written. Text that is no path at all is an error here, without asking the
// director.
absl::Status RecordReferences(CookContext& context, Json& value) {
  size_t strays = 0;
  RETURN_IF_ERROR(VisitReferences(
      value, "",
      [&](const FoundReference& reference) -> absl::Status {
        if (const auto normal = content::NormalizeAsked(*reference.path); !normal.ok()) {
          return Annotate(normal.status(), reference.pointer.empty() ? "the top-level reference"
                                                                     : reference.pointer);
        }
        context.AddReference(reference.kind, *reference.path);
        return absl::OkStatus();
      },
      [&](std::string_view pointer, std::string_view key) {
        if (++strays > kStrayWarningsMax) return;
        context.AddWarning(
            record::WarningKind::kDataReference,
            fmt::format("{}: \"{}\" is taken as plain data; a reference is an object with this one "
                        "key and a string",
                        pointer.empty() ? "the top-level object" : pointer, key));
      }));
  if (strays > kStrayWarningsMax) {
    context.AddWarning(record::WarningKind::kDataReference,
                       fmt::format("{} more such places", strays - kStrayWarningsMax));
  }
  return absl::OkStatus();
}

absl::Status CutIntoCells(CookContext& context, Json& value, double cell_size) {
  if (value.is_object() && value.contains(kCellsKey)) {
    return VerdictError(
        "the key \"{}\" is written by the data cooker when cell_size is not 0; rename it",
        kCellsKey);
  }
  ASSIGN_OR_RETURN(Cells cells, TakeCells(value, cell_size));
  if (cells.empty()) return absl::OkStatus();
  Json references = Json::array();
  for (auto& [index, items] : cells) {
    const std::string name = CellName(index);
    Json cell = Json::object();
    cell["items"] = std::move(items);
    RETURN_IF_ERROR(context.AddGenerated(name, cell.dump(), "data", R"({"cell_size":0})"));
    Json reference = Json::object();
    reference["$ref"] = name;
    references.push_back(std::move(reference));
  }
  value[kCellsKey] = std::move(references);
  return absl::OkStatus();
}

// Reads the source, cuts off its cells, and tells its references to the context.
absl::StatusOr<Json> ReadSource(CookContext& context) {
  const double cell_size = context.settings().at("cell_size").get<double>();
  if (!std::isfinite(cell_size) || cell_size < 0) {
    return VerdictError("setting \"cell_size\": expected 0 (not cut) or the edge of a cell, not {}",
                        cell_size);
  }
  ASSIGN_OR_RETURN(Json value, ParseJsonSource(*context.source()));
  if (value.is_object()) {
    if (const auto items = value.find("items"); items != value.end() && items->is_array()) {
      context.AddTag("items", static_cast<double>(items->size()));
    }
  }
  if (cell_size > 0) RETURN_IF_ERROR(CutIntoCells(context, value, cell_size));
  RETURN_IF_ERROR(RecordReferences(context, value));
  return value;
}

// Both depths are alike: there is nothing to decode.
absl::Status DataCooker::Look(CookContext& context, LookDepth, FileLook& look) {
  absl::Status status = ReadSource(context).status();
  if (status.ok()) {
    look.kind = "JSON";
  } else if (context.source()->empty()) {
    look.flaw = "empty";
  } else if (!Json::accept(*context.source())) {
    look.flaw = "not JSON";
  }
  return status;
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> DataCooker::Load(CookContext& context) {
  ASSIGN_OR_RETURN(const Json value, ReadSource(context));
  auto loaded = std::make_unique<LoadedData>();
  loaded->cbor = EncodeCbor(value);
  return loaded;
}

absl::Status DataCooker::Cook(CookContext& context, Loaded& loaded) {
  return context.AddOutput(".cbor", static_cast<LoadedData&>(loaded).cbor);
}

}  // namespace

std::unique_ptr<Cooker> CreateDataCooker() { return std::make_unique<DataCooker>(); }

}  // namespace galley::worker
