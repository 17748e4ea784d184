#include "worker/cookers/shader/msl.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

// Metal has 31 buffers. spirv-cross keeps those from 25 on for itself, and puts the sizes of
// buffers there.
constexpr unsigned kBuffersMax = 25;
constexpr unsigned kBufferSizesIndex = 25;
// Metal Feature Set Tables, "Maximum number of entries in the ... argument table, per graphics or
// kernel function"; Macs.
constexpr unsigned kTexturesMax = 128;
constexpr unsigned kSamplersMax = 16;
constexpr unsigned kTextureBufferNativeSince = 20100;
constexpr unsigned kLongSince = 20200;

// Place: the indices that a (set, binding) takes. Variables that share the binding share the
// indices.
struct Place {
  unsigned count = 1;
  bool has_buffer = false;
  bool has_texture = false;
  bool has_sampler = false;
  unsigned buffer = 0;
  unsigned texture = 0;
  unsigned sampler = 0;
};
using Places = std::map<std::pair<uint32_t, uint32_t>, Place>;  // by set and binding

// Whether an image may have atomics. Before Metal 3.1 they work on a buffer behind the image, which
// only these formats have.
bool MayHaveAtomics(const ReflectedBinding& binding) {
  return binding.format == "r32i" || binding.format == "r32ui";
}

void Want(const ReflectedBinding& binding, Place& place) {
  place.count = std::max(place.count, binding.count);
  switch (binding.kind) {
    case BindingKind::kUniformBuffer:
    case BindingKind::kStorageBuffer:
    case BindingKind::kAccelerationStructure:
      place.has_buffer = true;
      return;
    case BindingKind::kSampler:
      place.has_sampler = true;
      return;
    case BindingKind::kCombinedImageSampler:
      place.has_sampler = true;
      place.has_texture = true;
      return;
    case BindingKind::kStorageImage:
    case BindingKind::kStorageTexelBuffer:
      place.has_buffer = place.has_buffer || MayHaveAtomics(binding);
      place.has_texture = true;
      return;
    case BindingKind::kSampledImage:
    case BindingKind::kUniformTexelBuffer:
    case BindingKind::kInputAttachment:
      place.has_texture = true;
      return;
  }
}

bool WantTheSame(const ReflectedBinding& a, const ReflectedBinding& b) {
  Place of_a;
  Place of_b;
  Want(a, of_a);
  Want(b, of_b);
  return (of_a.has_buffer && of_b.has_buffer) || (of_a.has_texture && of_b.has_texture) ||
         (of_a.has_sampler && of_b.has_sampler);
}

// Whether two variables can share a binding. spirv-cross makes them two views of a buffer. But
// Metal has no cast from a uniform to a storage buffer, takes a buffer that is `const` in the first
// view for read-only, and has no views of an array.
bool CanShare(const ReflectedBinding& a, const ReflectedBinding& b) {
  return IsBuffer(a.kind) && a.kind == b.kind && a.count == 1 && b.count == 1 &&
         a.fields.value("access", "") == b.fields.value("access", "");
}

// Refuses variables that share a binding but cannot share it in Metal: they would get equal
// indices.
absl::Status CheckShared(const Reflection& reflection) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const ReflectedBinding*>> used;
  for (const ReflectedBinding& binding : reflection.bindings) {
    if (!binding.is_used) continue;
    auto& others = used[{binding.set, binding.binding}];
    for (const ReflectedBinding* other : others) {
      if (CanShare(*other, binding) || !WantTheSame(*other, binding)) continue;
      return VerdictError(
          "{} and {} are both at set {}, binding {}: in Metal only uniform buffers, or storage "
          "buffers of one access, can share a place, and no arrays; give each a binding of its own",
          other->name, binding.name, binding.set, binding.binding);
    }
    others.push_back(&binding);
  }
  return absl::OkStatus();
}

absl::Status CheckCount(std::string_view what, uint64_t count, uint64_t max) {
  if (count <= max) return absl::OkStatus();
  return VerdictError(
      "the shader has {} {}, used or not, each element of an array counted; Metal takes at most {}",
      count, what, max);
}

// Gives out indices. They count up in the order of sets and bindings, over all declared bindings,
// used or not, so that an edit or a define which makes a binding unused moves no other. Push
// constants are buffer 0.
absl::StatusOr<Places> PlaceAll(const Reflection& reflection) {
  RETURN_IF_ERROR(CheckShared(reflection));
  Places places;
  for (const ReflectedBinding& binding : reflection.bindings)
    Want(binding, places[{binding.set, binding.binding}]);
  uint64_t buffers = reflection.push_constants.has_value() ? 1 : 0;
  uint64_t textures = 0;
  uint64_t samplers = 0;
  for (auto& [where, place] : places) {
    const auto take = [count = place.count](bool has, uint64_t& next, unsigned& index) {
      if (!has) return;
      index = static_cast<unsigned>(next);
      next += count;
    };
    take(place.has_buffer, buffers, place.buffer);
    take(place.has_texture, textures, place.texture);
    take(place.has_sampler, samplers, place.sampler);
  }
  RETURN_IF_ERROR(CheckCount("buffers", buffers, kBuffersMax));
  RETURN_IF_ERROR(CheckCount("textures", textures, kTexturesMax));
  RETURN_IF_ERROR(CheckCount("samplers", samplers, kSamplersMax));
  return places;
}

// Refuses types that spirv-cross writes though Metal's compiler would not take them (Metal Shading
// Language Specification, 2.1: no double; long since 2.2).
absl::Status CheckTypes(const CrossModule& module, unsigned version) {
  ASSIGN_OR_RETURN(const bool has_double, module.HasCapability(SpvCapabilityFloat64));
  if (has_double) return VerdictError("Metal has no double; use float");
  RETURN_IF_ERROR(CheckNoMultiview(module));
  ASSIGN_OR_RETURN(const bool has_long, module.HasCapability(SpvCapabilityInt64));
  if (has_long && version < kLongSince)
    return VerdictError("Metal has 64-bit integers since msl-2.2");
  return absl::OkStatus();
}

// Refuses arrays of images with atomics: the text that spirv-cross writes for them is no MSL, since
// the buffer behind each element has no name of its own.
absl::Status CheckImages(const Reflection& reflection) {
  for (const ReflectedBinding& binding : reflection.bindings) {
    if (!binding.is_used || binding.count == 1 || !MayHaveAtomics(binding)) continue;
    if (binding.fields.value("access", "") != "read_write") continue;
    return VerdictError(
        "{} (set {}, binding {}) is an array of {} images, which may have atomics: MSL has them "
        "only on single images; declare the elements one by one, use an arrayed image, or say "
        "readonly or writeonly",
        binding.name, binding.set, binding.binding, binding.format);
  }
  return absl::OkStatus();
}

absl::Status AddBinding(CrossModule& module, uint32_t set, uint32_t binding, const Place& place) {
  spvc_msl_resource_binding entry;
  spvc_msl_resource_binding_init(&entry);
  entry.stage = spvc_compiler_get_execution_model(module.compiler());
  entry.desc_set = set;
  entry.binding = binding;
  entry.msl_buffer = place.buffer;
  entry.msl_texture = place.texture;
  entry.msl_sampler = place.sampler;
  return module.Check(spvc_compiler_msl_add_resource_binding(module.compiler(), &entry));
}

absl::Status SetOptions(CrossModule& module, const MslOptions& given) {
  std::vector<CrossModule::Option> options = {
      {SPVC_COMPILER_OPTION_MSL_VERSION, given.version},
      // Metal's y points up and its first row is at the top: with y flipped, the same source fills
      // the same rows as with Vulkan. Depth is 0 to w in both.
      {SPVC_COMPILER_OPTION_FLIP_VERTEX_Y, given.fix_clip_space},
  };
  if (given.version >= kTextureBufferNativeSince)
    options.push_back({SPVC_COMPILER_OPTION_MSL_TEXTURE_BUFFER_NATIVE, 1});
  return module.SetOptions(options);
}

Json Landed(const ReflectedBinding& binding, const Place& place) {
  Place wanted;
  Want(binding, wanted);
  Json landed = Json::object();
  if (wanted.has_buffer) landed["buffer"] = place.buffer;
  if (wanted.has_texture) landed["texture"] = place.texture;
  if (wanted.has_sampler) landed["sampler"] = place.sampler;
  return landed;
}

}  // namespace

absl::StatusOr<std::string> WriteMsl(CrossModule& module, const MslOptions& options,
                                     Reflection& reflection) {
  RETURN_IF_ERROR(CheckTypes(module, options.version));
  RETURN_IF_ERROR(CheckImages(reflection));
  ASSIGN_OR_RETURN(const Places places, PlaceAll(reflection));
  for (const auto& [where, place] : places)
    RETURN_IF_ERROR(AddBinding(module, where.first, where.second, place));
  if (reflection.push_constants.has_value()) {
    RETURN_IF_ERROR(AddBinding(module, SPVC_MSL_PUSH_CONSTANT_DESC_SET,
                               SPVC_MSL_PUSH_CONSTANT_BINDING, Place{}));
  }
  NameVariables(module, ShaderLanguage::kMsl, reflection);
  RETURN_IF_ERROR(SetOptions(module, options));
  ASSIGN_OR_RETURN(std::string text, module.Compile());

  for (ReflectedBinding& binding : reflection.bindings) {
    if (binding.is_used)
      binding.location = Landed(binding, places.at({binding.set, binding.binding}));
  }
  if (auto& push = reflection.push_constants; push.has_value() && push->is_used)
    push->location = {{"buffer", 0}};
  reflection.entry_point = spvc_compiler_get_cleansed_entry_point_name(
      module.compiler(), reflection.entry_point.c_str(),
      spvc_compiler_get_execution_model(module.compiler()));
  reflection.fields["buffer_sizes"] = nullptr;
  if (spvc_compiler_msl_needs_buffer_size_buffer(module.compiler()))
    reflection.fields["buffer_sizes"] = kBufferSizesIndex;
  return text;
}

}  // namespace galley::worker
