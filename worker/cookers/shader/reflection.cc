#include "worker/cookers/shader/reflection.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "common/base/status_macros.h"
#include "worker/cookers/cbor/cbor.h"
#include "worker/cookers/shader/reflected_type.h"
#include "worker/cookers/shader/reserved_words.h"
#include "worker/cookers/shader/stage_interface.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

// The alignment of a structure in std140 (OpenGL 4.6, 7.6.2.2, rule 9). A buffer has a structure's
// size.
constexpr uint64_t kUniformBufferAlignment = 16;

std::string_view KindName(BindingKind kind) {
  switch (kind) {
    case BindingKind::kSampler:
      return "sampler";
    case BindingKind::kCombinedImageSampler:
      return "combined_image_sampler";
    case BindingKind::kSampledImage:
      return "sampled_image";
    case BindingKind::kStorageImage:
      return "storage_image";
    case BindingKind::kUniformTexelBuffer:
      return "uniform_texel_buffer";
    case BindingKind::kStorageTexelBuffer:
      return "storage_texel_buffer";
    case BindingKind::kUniformBuffer:
      return "uniform_buffer";
    case BindingKind::kStorageBuffer:
      return "storage_buffer";
    case BindingKind::kInputAttachment:
      return "input_attachment";
    case BindingKind::kAccelerationStructure:
      return "acceleration_structure";
  }
  return "";
}

bool IsImage(BindingKind kind) {
  return !IsBuffer(kind) && kind != BindingKind::kSampler &&
         kind != BindingKind::kAccelerationStructure;
}

// Reads a module; see Reflect.
class Reflector {
 public:
  Reflector(const CrossModule& module, const std::set<uint32_t>& used)
      : module_(module), compiler_(module.compiler()), types_(module), used_(used) {}

  absl::StatusOr<Reflection> Run(std::string_view stage);

 private:
  absl::Status AddBindings(spvc_resource_type type, BindingKind kind);
  absl::StatusOr<ReflectedBinding> Binding(const spvc_reflected_resource& resource,
                                           BindingKind kind);
  absl::Status AddPushConstants();
  absl::StatusOr<Json> Interface(spvc_resource_type type);
  absl::StatusOr<Json> SpecializationConstants();
  absl::Status AddLocalSize();
  std::string_view AccessOf(const spvc_reflected_resource& resource, BindingKind kind) const;
  bool HasBufferDecoration(uint32_t id, SpvDecoration decoration) const;

  const CrossModule& module_;
  const spvc_compiler compiler_;
  TypeReflector types_;
  const std::set<uint32_t>& used_;
  Reflection found_;
};

bool Reflector::HasBufferDecoration(uint32_t id, SpvDecoration decoration) const {
  const SpvDecoration* list = nullptr;
  size_t size = 0;
  if (spvc_compiler_get_buffer_block_decorations(compiler_, id, &list, &size) != SPVC_SUCCESS)
    return false;
  return std::find(list, list + size, decoration) != list + size;
}

std::string_view Reflector::AccessOf(const spvc_reflected_resource& resource,
                                     BindingKind kind) const {
  const auto has = [&](SpvDecoration decoration) {
    return spvc_compiler_has_decoration(compiler_, resource.id, decoration) != SPVC_FALSE ||
           (kind == BindingKind::kStorageBuffer && HasBufferDecoration(resource.id, decoration));
  };
  if (has(SpvDecorationNonWritable)) return has(SpvDecorationNonReadable) ? "none" : "read";
  return has(SpvDecorationNonReadable) ? "write" : "read_write";
}

// spirv-cross lists texel buffers among the images, with the dimension "buffer".
BindingKind Refine(BindingKind kind, const Json& image) {
  if (image.at("dim") != "buffer") return kind;
  return kind == BindingKind::kStorageImage ? BindingKind::kStorageTexelBuffer
                                            : BindingKind::kUniformTexelBuffer;
}

uint64_t RoundUp(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

absl::StatusOr<ReflectedBinding> Reflector::Binding(const spvc_reflected_resource& resource,
                                                    BindingKind kind) {
  ReflectedBinding binding;
  binding.id = resource.id;
  binding.set = spvc_compiler_get_decoration(compiler_, resource.id, SpvDecorationDescriptorSet);
  binding.binding = spvc_compiler_get_decoration(compiler_, resource.id, SpvDecorationBinding);
  binding.name = VariableNameOf(module_, resource.id, resource.base_type_id);
  binding.count = types_.Count(resource.type_id);
  binding.is_used = used_.contains(resource.id);
  binding.fields = Json::object();
  if (IsImage(kind)) {
    Json image = types_.Image(resource.type_id);
    kind = Refine(kind, image);
    binding.format = image.value("format", "");
    binding.fields["image"] = std::move(image);
  }
  if (IsBuffer(kind)) {
    ASSIGN_OR_RETURN(Json block, types_.Block(resource.base_type_id));
    block["name"] = spvc_compiler_get_name(compiler_, resource.base_type_id);
    if (kind == BindingKind::kUniformBuffer)
      block["size"] = RoundUp(block.at("size").get<uint64_t>(), kUniformBufferAlignment);
    binding.fields["block"] = std::move(block);
  }
  if (kind == BindingKind::kStorageBuffer || kind == BindingKind::kStorageImage ||
      kind == BindingKind::kStorageTexelBuffer) {
    binding.fields["access"] = AccessOf(resource, kind);
  }
  if (kind == BindingKind::kInputAttachment) {
    binding.fields["input_attachment_index"] =
        spvc_compiler_get_decoration(compiler_, resource.id, SpvDecorationInputAttachmentIndex);
  }
  binding.kind = kind;
  return binding;
}

absl::Status Reflector::AddBindings(spvc_resource_type type, BindingKind kind) {
  ASSIGN_OR_RETURN(const auto resources, module_.Resources(type));
  for (const spvc_reflected_resource& resource : resources) {
    ASSIGN_OR_RETURN(ReflectedBinding binding, Binding(resource, kind));
    found_.bindings.push_back(std::move(binding));
  }
  return absl::OkStatus();
}

absl::Status Reflector::AddPushConstants() {
  ASSIGN_OR_RETURN(const auto resources, module_.Resources(SPVC_RESOURCE_TYPE_PUSH_CONSTANT));
  if (resources.empty()) return absl::OkStatus();
  const spvc_reflected_resource& resource = resources.front();  // a shader has at most one
  PushConstants push;
  push.id = resource.id;
  push.is_used = used_.contains(resource.id);
  ASSIGN_OR_RETURN(push.fields, types_.Block(resource.base_type_id));
  push.fields["name"] = VariableNameOf(module_, resource.id, resource.base_type_id);
  push.fields["used"] = push.is_used;
  found_.push_constants = std::move(push);
  return absl::OkStatus();
}

absl::StatusOr<Json> Reflector::Interface(spvc_resource_type type) {
  Json list = Json::array();
  ASSIGN_OR_RETURN(const auto variables, ListInterface(module_, type));
  for (const InterfaceVariable& variable : variables) {
    ASSIGN_OR_RETURN(Json entry, types_.Value(variable.type));
    if (variable.index.has_value()) types_.PrependArray(variable.variable_type, entry);
    entry["name"] = variable.name;
    entry["location"] = variable.location;
    entry["component"] = variable.component;
    if (spvc_compiler_has_decoration(compiler_, variable.id, SpvDecorationIndex))
      entry["index"] = spvc_compiler_get_decoration(compiler_, variable.id, SpvDecorationIndex);
    entry["used"] = used_.contains(variable.id);
    list.push_back(std::move(entry));
  }
  return list;
}

// The default of a constant; null: spirv-cross' interface does not tell it (64-bit integers).
Json DefaultOf(spvc_constant constant, spvc_basetype type) {
  switch (type) {
    case SPVC_BASETYPE_BOOLEAN:
      return spvc_constant_get_scalar_u32(constant, 0, 0) != 0;
    case SPVC_BASETYPE_INT8:
    case SPVC_BASETYPE_INT16:
    case SPVC_BASETYPE_INT32:
      return spvc_constant_get_scalar_i32(constant, 0, 0);
    case SPVC_BASETYPE_UINT8:
    case SPVC_BASETYPE_UINT16:
    case SPVC_BASETYPE_UINT32:
      return spvc_constant_get_scalar_u32(constant, 0, 0);
    case SPVC_BASETYPE_FP16:
      return spvc_constant_get_scalar_fp16(constant, 0, 0);
    case SPVC_BASETYPE_FP32:
      return spvc_constant_get_scalar_fp32(constant, 0, 0);
    case SPVC_BASETYPE_FP64:
      return spvc_constant_get_scalar_fp64(constant, 0, 0);
    default:
      return nullptr;
  }
}

absl::StatusOr<Json> Reflector::SpecializationConstants() {
  const spvc_specialization_constant* list = nullptr;
  size_t size = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_get_specialization_constants(compiler_, &list, &size)));
  Json constants = Json::array();
  for (size_t i = 0; i < size; ++i) {
    const spvc_constant constant = spvc_compiler_get_constant_handle(compiler_, list[i].id);
    const spvc_type_id type = spvc_constant_get_type(constant);
    ASSIGN_OR_RETURN(Json entry, types_.Value(type));
    entry["id"] = list[i].constant_id;
    entry["name"] = spvc_compiler_get_name(compiler_, list[i].id);
    entry["default"] =
        DefaultOf(constant, spvc_type_get_basetype(spvc_compiler_get_type_handle(compiler_, type)));
    constants.push_back(std::move(entry));
  }
  // In SPIR-V 1.6 a constant that gives a local size is there twice, once without a name.
  const auto order = [](const Json& entry) {
    const auto& name = entry.at("name").get_ref<const std::string&>();
    return std::tuple(entry.at("id").get<uint32_t>(), name.empty(), name);
  };
  std::sort(constants.begin(), constants.end(),
            [&](const Json& a, const Json& b) { return order(a) < order(b); });
  constants.erase(
      std::unique(constants.begin(), constants.end(),
                  [](const Json& a, const Json& b) { return a.at("id") == b.at("id"); }),
      constants.end());
  return constants;
}

absl::Status Reflector::AddLocalSize() {
  std::array<spvc_specialization_constant, 3> ids{};
  spvc_compiler_get_work_group_size_specialization_constants(compiler_, &ids[0], &ids[1], &ids[2]);
  Json size = Json::array();
  Json size_ids = Json::array();
  for (unsigned i = 0; i < 3; ++i) {
    if (ids[i].id == 0) {
      size.push_back(spvc_compiler_get_execution_mode_argument_by_index(
          compiler_, SpvExecutionModeLocalSize, i));
      size_ids.push_back(nullptr);
      continue;
    }
    const spvc_constant constant = spvc_compiler_get_constant_handle(compiler_, ids[i].id);
    size.push_back(spvc_constant_get_scalar_u32(constant, 0, 0));
    size_ids.push_back(ids[i].constant_id);
  }
  found_.fields["local_size"] = std::move(size);
  found_.fields["local_size_ids"] = std::move(size_ids);
  return absl::OkStatus();
}

absl::StatusOr<Reflection> Reflector::Run(std::string_view stage) {
  static constexpr std::array<std::pair<spvc_resource_type, BindingKind>, 8> kLists = {{
      {SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, BindingKind::kUniformBuffer},
      {SPVC_RESOURCE_TYPE_STORAGE_BUFFER, BindingKind::kStorageBuffer},
      {SPVC_RESOURCE_TYPE_SUBPASS_INPUT, BindingKind::kInputAttachment},
      {SPVC_RESOURCE_TYPE_STORAGE_IMAGE, BindingKind::kStorageImage},
      {SPVC_RESOURCE_TYPE_SAMPLED_IMAGE, BindingKind::kCombinedImageSampler},
      {SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, BindingKind::kSampledImage},
      {SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS, BindingKind::kSampler},
      {SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE, BindingKind::kAccelerationStructure},
  }};
  for (const auto& [type, kind] : kLists) RETURN_IF_ERROR(AddBindings(type, kind));
  std::ranges::sort(found_.bindings, [](const ReflectedBinding& a, const ReflectedBinding& b) {
    return std::tie(a.set, a.binding, a.name, a.id) < std::tie(b.set, b.binding, b.name, b.id);
  });
  RETURN_IF_ERROR(AddPushConstants());
  found_.stage = stage;
  found_.entry_point = "main";
  found_.fields = Json::object();
  ASSIGN_OR_RETURN(found_.fields["inputs"], Interface(SPVC_RESOURCE_TYPE_STAGE_INPUT));
  ASSIGN_OR_RETURN(found_.fields["outputs"], Interface(SPVC_RESOURCE_TYPE_STAGE_OUTPUT));
  ASSIGN_OR_RETURN(found_.fields["specialization_constants"], SpecializationConstants());
  if (stage == "comp") RETURN_IF_ERROR(AddLocalSize());
  return std::move(found_);
}

}  // namespace

void NameVariables(CrossModule& module, ShaderLanguage language, const Reflection& reflection) {
  for (const ReflectedBinding& binding : reflection.bindings) {
    if (binding.is_used) {
      spvc_compiler_set_name(module.compiler(), binding.id,
                             WrittenName(language, binding.name).c_str());
    }
  }
  const std::optional<PushConstants>& push = reflection.push_constants;
  if (!push.has_value() || !push->is_used) return;
  const std::string name = WrittenName(language, push->fields.at("name").get<std::string>());
  spvc_compiler_set_name(module.compiler(), push->id, name.c_str());
}

absl::StatusOr<Reflection> Reflect(const CrossModule& named, const std::set<uint32_t>& used,
                                   std::string_view stage) {
  return Reflector(named, used).Run(stage);
}

std::string EncodeReflection(const Reflection& reflection, std::string_view target) {
  const std::string language(target.substr(0, target.find('-')));
  const auto add_location = [&](Json& to, const Json& location) {
    if (language != "spirv") to[language] = location;
  };
  Json all = reflection.fields;
  all["version"] = kReflectionVersion;
  all["target"] = target;
  all["stage"] = reflection.stage;
  all["entry_point"] = reflection.entry_point;
  all["bindings"] = Json::array();
  for (const ReflectedBinding& each : reflection.bindings) {
    Json binding = each.fields;
    binding["set"] = each.set;
    binding["binding"] = each.binding;
    binding["name"] = each.name;
    binding["kind"] = KindName(each.kind);
    binding["count"] = each.count;
    binding["used"] = each.is_used;
    add_location(binding, each.location);
    all["bindings"].push_back(std::move(binding));
  }
  all["push_constants"] = nullptr;
  if (reflection.push_constants.has_value()) {
    all["push_constants"] = reflection.push_constants->fields;
    add_location(all["push_constants"], reflection.push_constants->location);
  }
  return EncodeCbor(all);
}

}  // namespace galley::worker
