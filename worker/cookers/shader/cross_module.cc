#include "worker/cookers/shader/cross_module.h"

#include <algorithm>
#include <array>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/library/build_id.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/shader/unique_structure_names.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

// The variables that reflection lists; built-in variables are not among them.
constexpr std::array<spvc_resource_type, 11> kResources = {
    SPVC_RESOURCE_TYPE_UNIFORM_BUFFER,        SPVC_RESOURCE_TYPE_STORAGE_BUFFER,
    SPVC_RESOURCE_TYPE_STAGE_INPUT,           SPVC_RESOURCE_TYPE_STAGE_OUTPUT,
    SPVC_RESOURCE_TYPE_SUBPASS_INPUT,         SPVC_RESOURCE_TYPE_STORAGE_IMAGE,
    SPVC_RESOURCE_TYPE_SAMPLED_IMAGE,         SPVC_RESOURCE_TYPE_PUSH_CONSTANT,
    SPVC_RESOURCE_TYPE_SEPARATE_IMAGE,        SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS,
    SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE};

bool IsSwitch(spvc_compiler_option option) {
  return option != SPVC_COMPILER_OPTION_GLSL_VERSION && option != SPVC_COMPILER_OPTION_MSL_VERSION;
}

}  // namespace

std::string SpirvCrossIdentity() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  spvc_get_version(&major, &minor, &patch);
  return fmt::format("spirv-cross={}.{}.{}-{}", major, minor, patch,
                     BuildIdOf("spvc_compiler_compile"));
}

absl::StatusOr<CrossModule> CrossModule::Create(const std::vector<uint32_t>& module,
                                                spvc_backend backend) {
  CrossModule cross;
  if (spvc_context_create(&cross.context_) != SPVC_SUCCESS)
    return OutOfMemoryError("no memory for spirv-cross");
  spvc_parsed_ir parsed = nullptr;
  const UniqueStructureNames parted = MakeStructureNamesUnique(module);
  RETURN_IF_ERROR(cross.Check(spvc_context_parse_spirv(cross.context_, parted.module.data(),
                                                       parted.module.size(), &parsed)));
  RETURN_IF_ERROR(cross.Check(spvc_context_create_compiler(
      cross.context_, backend, parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &cross.compiler_)));
  for (const auto& [id, name] : parted.names)
    spvc_compiler_set_name(cross.compiler_, id, name.c_str());
  return cross;
}

CrossModule::~CrossModule() {
  if (context_ != nullptr) spvc_context_destroy(context_);
}

absl::Status CrossModule::Check(spvc_result result) const {
  if (result == SPVC_SUCCESS) return absl::OkStatus();
  if (result == SPVC_ERROR_OUT_OF_MEMORY) return OutOfMemoryError("no memory for spirv-cross");
  const char* text = spvc_context_get_last_error_string(context_);
  return absl::InvalidArgumentError(text == nullptr || *text == '\0' ? "spirv-cross failed" : text);
}

absl::StatusOr<std::vector<spvc_reflected_resource>> CrossModule::Resources(
    spvc_resource_type type) const {
  spvc_resources resources = nullptr;
  RETURN_IF_ERROR(Check(spvc_compiler_create_shader_resources(compiler_, &resources)));
  const spvc_reflected_resource* list = nullptr;
  size_t size = 0;
  RETURN_IF_ERROR(Check(spvc_resources_get_resource_list_for_type(resources, type, &list, &size)));
  return std::vector<spvc_reflected_resource>(list, list + size);
}

absl::StatusOr<std::set<uint32_t>> CrossModule::ActiveVariables() const {
  spvc_set active = nullptr;
  RETURN_IF_ERROR(Check(spvc_compiler_get_active_interface_variables(compiler_, &active)));
  spvc_resources resources = nullptr;
  RETURN_IF_ERROR(Check(
      spvc_compiler_create_shader_resources_for_active_variables(compiler_, &resources, active)));
  std::set<uint32_t> ids;
  for (const spvc_resource_type type : kResources) {
    const spvc_reflected_resource* list = nullptr;
    size_t size = 0;
    RETURN_IF_ERROR(
        Check(spvc_resources_get_resource_list_for_type(resources, type, &list, &size)));
    for (size_t i = 0; i < size; ++i) ids.insert(list[i].id);
  }
  return ids;
}

absl::Status CrossModule::KeepOnlyActive() {
  spvc_set active = nullptr;
  RETURN_IF_ERROR(Check(spvc_compiler_get_active_interface_variables(compiler_, &active)));
  return Check(spvc_compiler_set_enabled_interface_variables(compiler_, active));
}

absl::StatusOr<bool> CrossModule::HasCapability(SpvCapability capability) const {
  const SpvCapability* list = nullptr;
  size_t size = 0;
  RETURN_IF_ERROR(Check(spvc_compiler_get_declared_capabilities(compiler_, &list, &size)));
  return std::find(list, list + size, capability) != list + size;
}

absl::Status CrossModule::SetOptions(const std::vector<Option>& options) {
  spvc_compiler_options set = nullptr;
  RETURN_IF_ERROR(Check(spvc_compiler_create_compiler_options(compiler_, &set)));
  for (const Option& option : options) {
    RETURN_IF_ERROR(Check(IsSwitch(option.name)
                              ? spvc_compiler_options_set_bool(set, option.name, option.value != 0)
                              : spvc_compiler_options_set_uint(set, option.name, option.value)));
  }
  return Check(spvc_compiler_install_compiler_options(compiler_, set));
}

absl::StatusOr<std::string> CrossModule::Compile() {
  const char* text = nullptr;
  RETURN_IF_ERROR(Check(spvc_compiler_compile(compiler_, &text)));
  return std::string(text);
}

absl::Status CheckNoMultiview(const CrossModule& module) {
  ASSIGN_OR_RETURN(const bool has_views, module.HasCapability(SpvCapabilityMultiView));
  if (!has_views) return absl::OkStatus();
  return VerdictError(
      "the shader has gl_ViewIndex (GL_EXT_multiview), which only SPIR-V targets take; draw once "
      "for each view, and give the view's number as a push constant or in a buffer");
}

}  // namespace galley::worker
