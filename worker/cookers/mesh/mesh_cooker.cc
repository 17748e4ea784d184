#include "worker/cookers/mesh/mesh_cooker.h"

#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/geometry.h"
#include "worker/cookers/mesh/mesh_passes.h"
#include "worker/cookers/mesh/mesh_repairs.h"
#include "worker/cookers/mesh/mesh_settings.h"
#include "worker/cookers/mesh/scene.h"
#include "worker/cookers/mesh/textures.h"
#include "worker/cookers/mesh/warnings.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker {
namespace mesh {
namespace {

// Raised by hand when outputs change without a change of a library.
constexpr int kRevision = 6;

record::CookerDescription Describe() {
  return {.name = "mesh",
          .identity = fmt::format("{};{}", kRevision, GeometryIdentity()),
          .extensions = {"gltf", "glb"},
          .outputs = {{.suffix = ".glb"}, {.suffix = ".d/lod*.glb", .each_setting = "lods"}},
          .documentation =
              "glTF 2.0 to GLB: geometry optimised and quantised, levels of detail; "
              "textures become packages of their own.",
          .settings = DescribeMeshSettings(),
          .may_generate = true};
}

class LoadedMesh : public Cooker::Loaded {
 public:
  MeshSettings settings;
  Scene scene;
  std::vector<uint64_t> normal_map_texcoords;
  // The outputs, made by the first Cook.
  struct Output {
    std::string suffix;
    std::string bytes;
  };
  struct Made {
    std::vector<Output> outputs;
    Warnings warnings;
    Totals totals;
  };
  // A failure is kept, too: the scene is used up in either case.
  std::optional<absl::StatusOr<Made>> made;
};

class MeshCooker : public Cooker, public SourceLooker {
 public:
  MeshCooker() : description_(Describe()) {}

  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  const record::CookerDescription description_;
};

absl::StatusOr<Document> ReadSource(CookContext& context) {
  const FileReader read_file = [&](const std::string& path) -> absl::StatusOr<Blob> {
    ASSIGN_OR_RETURN(FileContent content, context.ReadFile(path));
    return content.kind == Kind::kFile ? std::move(content.bytes) : nullptr;
  };
  return ReadDocument(context.source(), read_file, {.memory_bytes_max = context.MemoryBytesMax()});
}

absl::Status ReportTextures(CookContext& context, TakenTextures textures) {
  for (const std::string& reference : textures.references)
    context.AddReference(record::ReferenceKind::kHard, reference);
  for (GeneratedImage& image : textures.generated) {
    RETURN_IF_ERROR(context.AddGenerated(image.name, std::move(image.bytes), image.cooker,
                                         image.settings_json));
  }
  return absl::OkStatus();
}

void ReportFacts(CookContext& context, const Scene& scene) {
  const auto count = [&](const char* key) {
    return static_cast<double>(ArraySize(scene.json, key));
  };
  for (const char* key : {"animations", "materials", "meshes", "nodes", "skins"})
    context.AddTag(key, count(key));
  if (const std::optional<std::string> bounds = BoundsText(scene))
    context.AddTag("bounds", *bounds);
}

absl::StatusOr<std::unique_ptr<LoadedMesh>> LoadMesh(CookContext& context) {
  auto loaded = std::make_unique<LoadedMesh>();
  ASSIGN_OR_RETURN(loaded->settings, ParseMeshSettings(context.settings()));
  ASSIGN_OR_RETURN(Document document, ReadSource(context));
  ASSIGN_OR_RETURN(TakenTextures textures, TakeTextures(document));
  loaded->normal_map_texcoords = textures.normal_map_texcoords;
  ASSIGN_OR_RETURN(loaded->scene, ReadScene(document));
  CheckMaterialUse(loaded->scene.json, loaded->scene.meshes, textures.texcoords, document.warnings);
  for (const std::string& warning : Grouped(document.warnings.texts()))
    context.AddWarning(record::WarningKind::kMeshFile, warning);
  RETURN_IF_ERROR(ReportTextures(context, std::move(textures)));
  ReportFacts(context, loaded->scene);
  return loaded;
}

absl::Status LookAtOutline(CookContext& context, FileLook& look) {
  const auto read_nothing = [](const std::string&) -> absl::StatusOr<Blob> { return nullptr; };
  ASSIGN_OR_RETURN(Document document, ReadDocument(context.source(), read_nothing,
                                                   {.memory_bytes_max = context.MemoryBytesMax(),
                                                    .is_outline = true}));
  look.buffers.insert(document.files.begin(), document.files.end());
  ASSIGN_OR_RETURN(TakenTextures textures, TakeTextures(document));
  for (const auto& [path, use] : textures.files) look.images.emplace(path, UseName(use));
  return ReportTextures(context, std::move(textures));
}

absl::Status AddLevels(const Scene& scene, const MeshSettings& settings, LoadedMesh::Made& made) {
  if (settings.lods.empty()) return absl::OkStatus();
  LevelMaker levels(scene, settings.lod_error);
  size_t level = 1;
  for (const double ratio : settings.lods) {
    ASSIGN_OR_RETURN(std::string bytes, WriteScene(levels.Next(ratio), false));
    made.outputs.push_back(
        {.suffix = fmt::format(".d/lod{}.glb", level++), .bytes = std::move(bytes)});
  }
  return absl::OkStatus();
}

// Changes the scene step by step, and uses it up.
absl::StatusOr<LoadedMesh::Made> MakeOutputs(LoadedMesh& loaded) {
  LoadedMesh::Made made;
  Scene scene = std::move(loaded.scene);
  RETURN_IF_ERROR(AddTangents(scene, loaded.normal_map_texcoords, made.warnings));
  if (loaded.settings.quantize) {
    RETURN_IF_ERROR(QuantizeScene(scene, made.warnings));
  } else {
    NormalizeScene(scene, made.warnings);
  }
  OptimizeScene(scene);
  made.totals = CountGeometry(scene.meshes);
  ASSIGN_OR_RETURN(std::string whole, WriteScene(scene, true));
  made.outputs.push_back({.suffix = ".glb", .bytes = std::move(whole)});
  RETURN_IF_ERROR(AddLevels(scene, loaded.settings, made));
  return made;
}

absl::Status CookMesh(CookContext& context, LoadedMesh& loaded) {
  if (!loaded.made) {
    loaded.made.emplace(NotEnoughMemory(context, "mesh"));  // in case the next line throws half way
    loaded.made.emplace(MakeOutputs(loaded));
  }
  RETURN_IF_ERROR(loaded.made->status());
  const LoadedMesh::Made& made = **loaded.made;
  for (const std::string& warning : Grouped(made.warnings.texts()))
    context.AddWarning(record::WarningKind::kMeshRepaired, warning);
  context.AddTag("triangles", static_cast<double>(made.totals.triangles));
  context.AddTag("vertices", static_cast<double>(made.totals.vertices));
  context.AddTag("bytes", static_cast<double>(made.outputs.front().bytes.size()));
  for (const LoadedMesh::Output& output : made.outputs)
    RETURN_IF_ERROR(context.AddOutput(output.suffix, output.bytes));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> MeshCooker::Load(CookContext& context) {
  return GuardMemory(context, "mesh", [&] { return LoadMesh(context); });
}

absl::Status MeshCooker::Look(CookContext& context, LookDepth depth, FileLook& look) {
  return GuardMemory(context, "mesh", [&]() -> absl::Status {
    RETURN_IF_ERROR(depth == LookDepth::kOutline ? LookAtOutline(context, look)
                                                 : LoadMesh(context).status());
    look.kind = "glTF 2.0";
    return absl::OkStatus();
  });
}

absl::Status MeshCooker::Cook(CookContext& context, Loaded& loaded) {
  return GuardMemory(context, "mesh",
                     [&] { return CookMesh(context, dynamic_cast<LoadedMesh&>(loaded)); });
}

}  // namespace
}  // namespace mesh

std::unique_ptr<Cooker> CreateMeshCooker() { return std::make_unique<mesh::MeshCooker>(); }

}  // namespace galley::worker
