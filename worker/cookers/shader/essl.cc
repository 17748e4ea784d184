#include "worker/cookers/shader/essl.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/glsl.h"
#include "worker/cookers/shader/reserved_words.h"
#include "worker/cookers/shader/stage_interface.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kBindingMax = 65'535;
constexpr std::string_view kVaryingPrefix = "io_at";

// The spaces in which OpenGL counts bindings apart from each other.
enum class Space { kUniformBuffers, kStorageBuffers, kTextureUnits, kImageUnits };

std::string_view SpaceName(Space space) {
  switch (space) {
    case Space::kUniformBuffers:
      return "uniform buffer binding";
    case Space::kStorageBuffers:
      return "storage buffer binding";
    case Space::kTextureUnits:
      return "texture unit";
    case Space::kImageUnits:
      return "image unit";
  }
  return "";
}

// The space of a kind; nullopt: none, since separate images and samplers are combined.
std::optional<Space> SpaceOf(BindingKind kind) {
  switch (kind) {
    case BindingKind::kUniformBuffer:
      return Space::kUniformBuffers;
    case BindingKind::kStorageBuffer:
      return Space::kStorageBuffers;
    case BindingKind::kCombinedImageSampler:
    case BindingKind::kUniformTexelBuffer:
    case BindingKind::kInputAttachment:
      return Space::kTextureUnits;
    case BindingKind::kStorageImage:
    case BindingKind::kStorageTexelBuffer:
      return Space::kImageUnits;
    case BindingKind::kSampledImage:
    case BindingKind::kSampler:
    case BindingKind::kAccelerationStructure:
      return std::nullopt;
  }
  return std::nullopt;
}

struct Combined {
  uint32_t id;
  const ReflectedBinding* image;
  const ReflectedBinding* sampler;  // nullptr: texels are fetched, without a sampler
};

// Writes a module; see WriteEssl.
class EsslWriter {
 public:
  EsslWriter(CrossModule& module, const EsslOptions& options, Reflection& reflection)
      : module_(module), compiler_(module.compiler()), options_(options), reflection_(reflection) {}

  absl::StatusOr<std::string> Run();

 private:
  // ESSL 3.00 has no `binding`: the host sets bindings by name.
  bool has_bindings() const { return options_.version >= 310; }
  bool renames_varyings() const {
    return options_.version < 320 && options_.stage != EShLangCompute;
  }
  absl::Status Combine();
  absl::Status Place();
  absl::Status PlaceOne(const ReflectedBinding& binding, uint32_t id, Space space);
  absl::Status CheckNames() const;
  absl::Status PrepareInterface();
  absl::Status NameVarying(const InterfaceVariable& variable);
  void RecordVarying(const InterfaceVariable& variable, const std::string& name);
  absl::Status DropComponent(const InterfaceVariable& variable);
  void Undecorate(const InterfaceVariable& variable, SpvDecoration decoration);
  absl::Status SetOptions();
  Json Landed(uint32_t id, std::string_view name) const;
  void RecordBindings();
  const ReflectedBinding* Find(uint32_t id) const;

  CrossModule& module_;
  const spvc_compiler compiler_;
  const EsslOptions options_;
  Reflection& reflection_;
  std::vector<Combined> combined_;
  // The name of the variable at each place.
  std::map<std::pair<Space, uint64_t>, std::string> taken_;
};

const ReflectedBinding* EsslWriter::Find(uint32_t id) const {
  for (const ReflectedBinding& binding : reflection_.bindings) {
    if (binding.id == id) return &binding;
  }
  return nullptr;
}

// Makes a variable of each pair of an image and a sampler that the shader uses together. The
// variable has no unit, the host chooses it: a unit made of the image's binding would be shared
// with other pairs in this stage, or in another stage, which is cooked apart.
absl::Status EsslWriter::Combine() {
  spvc_variable_id dummy = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_build_dummy_sampler_for_combined_images(compiler_, &dummy)));
  RETURN_IF_ERROR(module_.KeepOnlyActive());
  RETURN_IF_ERROR(module_.Check(spvc_compiler_build_combined_image_samplers(compiler_)));
  const spvc_combined_image_sampler* list = nullptr;
  size_t size = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_get_combined_image_samplers(compiler_, &list, &size)));
  for (size_t i = 0; i < size; ++i) {
    const ReflectedBinding* image = Find(list[i].image_id);
    if (image == nullptr) return VerdictError("an image without a binding");
    combined_.push_back(
        {.id = list[i].combined_id, .image = image, .sampler = Find(list[i].sampler_id)});
  }
  const auto order = [](const Combined& each) {
    return std::tuple(each.image->set, each.image->binding, each.image->name,
                      each.sampler == nullptr, each.sampler == nullptr ? 0 : each.sampler->set,
                      each.sampler == nullptr ? 0 : each.sampler->binding, each.id);
  };
  std::ranges::sort(combined_,
                    [&](const Combined& a, const Combined& b) { return order(a) < order(b); });
  for (const Combined& each : combined_) {
    const std::string name = WrittenName(
        ShaderLanguage::kEssl,
        fmt::format("{}_{}", each.image->name, each.sampler ? each.sampler->name : "texel"));
    spvc_compiler_set_name(compiler_, each.id, name.c_str());
  }
  return absl::OkStatus();
}

absl::Status EsslWriter::PlaceOne(const ReflectedBinding& binding, uint32_t id, Space space) {
  const uint64_t first = uint64_t{binding.set} * options_.set_stride + binding.binding;
  const uint64_t count = std::max<uint64_t>(binding.count, 1);
  const std::string whose =
      fmt::format("{} (set {}, binding {})", binding.name, binding.set, binding.binding);
  if (first + count > kBindingMax) {
    return VerdictError("{} lands at {} {}; no device has so many", whose, SpaceName(space),
                        first + count - 1);
  }
  for (uint64_t place = first; place < first + count; ++place) {
    const auto [other, is_new] = taken_.emplace(std::pair(space, place), whose);
    if (is_new) continue;
    return VerdictError(
        "{} and {} both land at {} {}: OpenGL ES has no sets, binding b of set s is at s * {} + b, "
        "and an array takes as many as it has elements; change the bindings, or the setting "
        "`set_stride`",
        other->second, whose, SpaceName(space), place, options_.set_stride);
  }
  spvc_compiler_set_decoration(compiler_, id, SpvDecorationBinding, static_cast<unsigned>(first));
  return absl::OkStatus();
}

absl::Status EsslWriter::Place() {
  for (const ReflectedBinding& binding : reflection_.bindings) {
    if (!binding.is_used) continue;
    if (const std::optional<Space> space = SpaceOf(binding.kind); space.has_value())
      RETURN_IF_ERROR(PlaceOne(binding, binding.id, *space));
  }
  return absl::OkStatus();
}

// Names a variable that goes from the vertex to the fragment shader. ESSL joins such variables by
// name where GLSL joins them by location, so the names are made of locations. The locations
// themselves are left out: ESSL 3.00 has none there, 3.10 has none for parts of a location, and
// spirv-cross loses the locations of block members.
absl::Status EsslWriter::NameVarying(const InterfaceVariable& variable) {
  const spvc_type type = spvc_compiler_get_type_handle(compiler_, variable.type);
  if (spvc_type_get_basetype(type) == SPVC_BASETYPE_STRUCT) {
    return VerdictError(
        "{} (location {}) is a structure between stages: before essl-320 both shaders would have "
        "to give it the same names; make its members variables or members of a block",
        variable.name, variable.location);
  }
  std::string name = fmt::format("at{}", variable.location);
  if (variable.component != 0) name += fmt::format("c{}", variable.component);
  Undecorate(variable, SpvDecorationLocation);
  Undecorate(variable, SpvDecorationComponent);
  RecordVarying(variable, "io_" + name);
  if (!variable.index.has_value()) {
    spvc_compiler_set_name(compiler_, variable.id, ("io_" + name).c_str());
    return absl::OkStatus();
  }
  // The member becomes <block>_<member>.
  spvc_compiler_set_name(compiler_, variable.id, "io");
  spvc_compiler_set_member_name(compiler_, variable.block_type, *variable.index, name.c_str());
  return absl::OkStatus();
}

void EsslWriter::RecordVarying(const InterfaceVariable& variable, const std::string& name) {
  for (Json& each : reflection_.fields.at(options_.stage == EShLangVertex ? "outputs" : "inputs")) {
    if (each.at("location") == variable.location && each.at("component") == variable.component)
      each["written"] = name;
  }
}

// Refuses names that clash: of two things with the same name spirv-cross silently renames one.
absl::Status EsslWriter::CheckNames() const {
  const unsigned bound = spvc_compiler_get_current_id_bound(compiler_);
  for (unsigned id = 1; id < bound; ++id) {
    const std::string_view name = spvc_compiler_get_name(compiler_, id);
    if (!name.starts_with(kVaryingPrefix)) continue;
    return VerdictError(
        "the name {} begins with {}, as those begin that the cooker gives to what goes between "
        "stages; choose another one",
        name.substr(0, name.find('(')), kVaryingPrefix);
  }
  return absl::OkStatus();
}

// Drops `component`, which ESSL does not have, not even for component 0.
absl::Status EsslWriter::DropComponent(const InterfaceVariable& variable) {
  if (variable.component != 0) {
    return VerdictError(
        "{} is at component {} of location {}: ESSL has no components; give it a location of its "
        "own, or join what shares the location into one vector",
        variable.name, variable.component, variable.location);
  }
  Undecorate(variable, SpvDecorationComponent);
  return absl::OkStatus();
}

void EsslWriter::Undecorate(const InterfaceVariable& variable, SpvDecoration decoration) {
  spvc_compiler_unset_decoration(compiler_, variable.id, decoration);
  if (variable.index.has_value()) {
    spvc_compiler_unset_member_decoration(compiler_, variable.block_type, *variable.index,
                                          decoration);
  }
}

absl::Status EsslWriter::PrepareInterface() {
  if (renames_varyings()) RETURN_IF_ERROR(CheckNames());
  ASSIGN_OR_RETURN(const std::set<uint32_t> used, module_.ActiveVariables());
  const auto varying = options_.stage == EShLangVertex ? SPVC_RESOURCE_TYPE_STAGE_OUTPUT
                                                       : SPVC_RESOURCE_TYPE_STAGE_INPUT;
  for (const auto type : {SPVC_RESOURCE_TYPE_STAGE_INPUT, SPVC_RESOURCE_TYPE_STAGE_OUTPUT}) {
    ASSIGN_OR_RETURN(const auto variables, ListInterface(module_, type));
    for (const InterfaceVariable& variable : variables) {
      if (!used.contains(variable.id)) continue;
      RETURN_IF_ERROR(renames_varyings() && type == varying ? NameVarying(variable)
                                                            : DropComponent(variable));
    }
  }
  return absl::OkStatus();
}

absl::Status EsslWriter::SetOptions() {
  std::vector<CrossModule::Option> options = {
      {SPVC_COMPILER_OPTION_GLSL_VERSION, options_.version},
      {SPVC_COMPILER_OPTION_GLSL_ES, 1},
      {SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, 0},
      {SPVC_COMPILER_OPTION_GLSL_SUPPORT_NONZERO_BASE_INSTANCE, 0},
      {SPVC_COMPILER_OPTION_GLSL_ES_DEFAULT_FLOAT_PRECISION_HIGHP, 1},
      {SPVC_COMPILER_OPTION_GLSL_ES_DEFAULT_INT_PRECISION_HIGHP, 1},
      // Converts from Vulkan's depth, 0 to w, to OpenGL's, -w to w. Y stays as it is.
      {SPVC_COMPILER_OPTION_FIXUP_DEPTH_CONVENTION,
       options_.fix_clip_space && options_.stage != EShLangTessControl},
  };
  // Before ESSL 3.20 blocks between stages need an extension, and only geometry and tessellation
  // shaders can use them.
  if (options_.version < 320)
    options.push_back({SPVC_COMPILER_OPTION_GLSL_FORCE_FLATTENED_IO_BLOCKS, 1});
  return module_.SetOptions(options);
}

Json EsslWriter::Landed(uint32_t id, std::string_view name) const {
  Json landed = Json::object();
  landed["name"] = name;
  landed["binding"] = nullptr;
  if (has_bindings())
    landed["binding"] = spvc_compiler_get_decoration(compiler_, id, SpvDecorationBinding);
  return landed;
}

void EsslWriter::RecordBindings() {
  for (ReflectedBinding& binding : reflection_.bindings) {
    const std::optional<Space> space = SpaceOf(binding.kind);
    if (!binding.is_used || !space.has_value()) continue;
    const bool is_block = *space == Space::kUniformBuffers || *space == Space::kStorageBuffers;
    binding.location = Landed(
        binding.id, is_block ? spvc_compiler_get_remapped_declared_block_name(compiler_, binding.id)
                             : spvc_compiler_get_name(compiler_, binding.id));
  }
  if (auto& push = reflection_.push_constants; push.has_value() && push->is_used)
    push->location = {{"name", spvc_compiler_get_name(compiler_, push->id)}};
  Json list = Json::array();
  for (const Combined& each : combined_) {
    Json entry = Json::object();
    entry["name"] = spvc_compiler_get_name(compiler_, each.id);
    entry["image"] = {{"set", each.image->set}, {"binding", each.image->binding}};
    entry["sampler"] = nullptr;
    if (each.sampler != nullptr)
      entry["sampler"] = {{"set", each.sampler->set}, {"binding", each.sampler->binding}};
    list.push_back(std::move(entry));
  }
  reflection_.fields["combined"] = std::move(list);
}

absl::StatusOr<std::string> EsslWriter::Run() {
  RETURN_IF_ERROR(CheckNoMultiview(module_));
  RETURN_IF_ERROR(Combine());
  if (has_bindings()) RETURN_IF_ERROR(Place());
  NameVariables(module_, ShaderLanguage::kEssl, reflection_);
  RETURN_IF_ERROR(PrepareInterface());
  RETURN_IF_ERROR(SetOptions());
  ASSIGN_OR_RETURN(std::string text, module_.Compile());
  RecordBindings();
  RETURN_IF_ERROR(CheckEssl(text, options_.stage));
  return text;
}

}  // namespace

absl::StatusOr<std::string> WriteEssl(CrossModule& module, const EsslOptions& options,
                                      Reflection& reflection) {
  return EsslWriter(module, options, reflection).Run();
}

}  // namespace galley::worker
