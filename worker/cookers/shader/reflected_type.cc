#include "worker/cookers/shader/reflected_type.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/reflection.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

struct Scalar {
  std::string_view name;
  std::string_view prefix;  // the first letter of its vectors and matrices
};

Scalar ScalarOf(spvc_basetype type) {
  switch (type) {
    case SPVC_BASETYPE_BOOLEAN:
      return {"bool", "b"};
    case SPVC_BASETYPE_INT8:
      return {"int8_t", "i8"};
    case SPVC_BASETYPE_UINT8:
      return {"uint8_t", "u8"};
    case SPVC_BASETYPE_INT16:
      return {"int16_t", "i16"};
    case SPVC_BASETYPE_UINT16:
      return {"uint16_t", "u16"};
    case SPVC_BASETYPE_INT32:
      return {"int", "i"};
    case SPVC_BASETYPE_UINT32:
      return {"uint", "u"};
    case SPVC_BASETYPE_INT64:
      return {"int64_t", "i64"};
    case SPVC_BASETYPE_UINT64:
      return {"uint64_t", "u64"};
    case SPVC_BASETYPE_FP16:
      return {"float16_t", "f16"};
    case SPVC_BASETYPE_FP32:
      return {"float", ""};
    case SPVC_BASETYPE_FP64:
      return {"double", "d"};
    default:
      return {"opaque", ""};
  }
}

std::string NumericName(spvc_type type) {
  const Scalar scalar = ScalarOf(spvc_type_get_basetype(type));
  const unsigned rows = spvc_type_get_vector_size(type);
  const unsigned columns = spvc_type_get_columns(type);
  if (columns > 1) {
    return rows == columns ? fmt::format("{}mat{}", scalar.prefix, rows)
                           : fmt::format("{}mat{}x{}", scalar.prefix, columns, rows);
  }
  return rows > 1 ? fmt::format("{}vec{}", scalar.prefix, rows) : std::string(scalar.name);
}

// Whether the type is a reference to a buffer, which may lead back to where it came from.
bool IsReference(spvc_type type) {
  return spvc_type_get_storage_class(type) == SpvStorageClassPhysicalStorageBuffer;
}

std::string_view DimensionName(SpvDim dimension) {
  switch (dimension) {
    case SpvDim1D:
      return "1d";
    case SpvDim2D:
      return "2d";
    case SpvDim3D:
      return "3d";
    case SpvDimCube:
      return "cube";
    case SpvDimBuffer:
      return "buffer";
    case SpvDimSubpassData:
      return "subpass";
    default:
      return "rect";
  }
}

}  // namespace

std::string ImageFormatName(SpvImageFormat format) {
  // In the order of the enumerators (SPIR-V 3.11).
  static constexpr std::array<std::string_view, 42> kNames = {
      "",          "rgba32f",      "rgba16f",
      "r32f",      "rgba8",        "rgba8_snorm",
      "rg32f",     "rg16f",        "r11f_g11f_b10f",
      "r16f",      "rgba16",       "rgb10_a2",
      "rg16",      "rg8",          "r16",
      "r8",        "rgba16_snorm", "rg16_snorm",
      "rg8_snorm", "r16_snorm",    "r8_snorm",
      "rgba32i",   "rgba16i",      "rgba8i",
      "r32i",      "rg32i",        "rg16i",
      "rg8i",      "r16i",         "r8i",
      "rgba32ui",  "rgba16ui",     "rgba8ui",
      "r32ui",     "rgb10_a2ui",   "rg32ui",
      "rg16ui",    "rg8ui",        "r16ui",
      "r8ui",      "r64ui",        "r64i"};
  const auto index = static_cast<size_t>(format);
  return index < kNames.size() ? std::string(kNames[index]) : std::string();
}

uint32_t TypeReflector::Dimension(spvc_type type, unsigned index) const {
  const SpvId dimension = spvc_type_get_array_dimension(type, index);
  if (spvc_type_array_dimension_is_literal(type, index)) return dimension;
  // The dimension is a specialisation constant, whose default counts, or an expression of such
  // constants, which is not known here.
  const spvc_constant constant = spvc_compiler_get_constant_handle(module_.compiler(), dimension);
  return constant == nullptr ? 0 : spvc_constant_get_scalar_u32(constant, 0, 0);
}

Json TypeReflector::Array(spvc_type type) const {
  Json array = Json::array();
  for (unsigned i = spvc_type_get_num_array_dimensions(type); i-- > 0;)
    array.push_back(Dimension(type, i));
  return array;
}

uint32_t TypeReflector::Count(uint32_t type_id) const {
  const spvc_type type = spvc_compiler_get_type_handle(module_.compiler(), type_id);
  uint64_t count = 1;
  for (unsigned i = spvc_type_get_num_array_dimensions(type); i-- > 0;)
    count = std::min<uint64_t>(count * Dimension(type, i), UINT32_MAX);
  return static_cast<uint32_t>(count);
}

absl::StatusOr<Json> TypeReflector::Value(uint32_t type_id) { return Describe(type_id, false); }

absl::StatusOr<Json> TypeReflector::Describe(uint32_t type_id, bool has_layout) {
  const spvc_type type = spvc_compiler_get_type_handle(module_.compiler(), type_id);
  Json value = Json::object();
  if (Json array = Array(type); !array.empty()) value["array"] = std::move(array);
  if (IsReference(type)) {
    value["type"] = "buffer_reference";
  } else if (spvc_type_get_basetype(type) == SPVC_BASETYPE_STRUCT) {
    const spvc_type_id base = spvc_type_get_base_type_id(type);
    value["type"] = "struct";
    value["struct"] = spvc_compiler_get_name(module_.compiler(), base);
    ASSIGN_OR_RETURN(value["members"], Members(base, has_layout));
  } else {
    value["type"] = NumericName(type);
  }
  return value;
}

void TypeReflector::PrependArray(uint32_t type_id, Json& value) const {
  Json array = Array(spvc_compiler_get_type_handle(module_.compiler(), type_id));
  if (array.empty()) return;
  if (const auto inner = value.find("array"); inner != value.end())
    array.insert(array.end(), inner->begin(), inner->end());
  value["array"] = std::move(array);
}

absl::StatusOr<Json> TypeReflector::Block(uint32_t type_id) {
  const spvc_type type = spvc_compiler_get_type_handle(module_.compiler(), type_id);
  size_t size = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_get_declared_struct_size(module_.compiler(), type, &size)));
  Json block = Json::object();
  block["size"] = size;
  ASSIGN_OR_RETURN(block["members"], Members(type_id, true));
  return block;
}

absl::StatusOr<Json> TypeReflector::Members(uint32_t type_id, bool has_layout) {
  const spvc_type type = spvc_compiler_get_type_handle(module_.compiler(), type_id);
  Json members = Json::array();
  for (unsigned i = 0; i < spvc_type_get_num_member_types(type); ++i) {
    if (++members_ > kReflectedMembersMax)
      return VerdictError("the shader's blocks have more than {} members", kReflectedMembersMax);
    ASSIGN_OR_RETURN(Json member, Describe(spvc_type_get_member_type(type, i), has_layout));
    member["name"] = spvc_compiler_get_member_name(module_.compiler(), type_id, i);
    if (has_layout) RETURN_IF_ERROR(AddLayout(type, i, member));
    members.push_back(std::move(member));
  }
  return members;
}

absl::Status TypeReflector::AddLayout(spvc_type block, unsigned index, Json& member) const {
  const spvc_compiler compiler = module_.compiler();
  unsigned offset = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_type_struct_member_offset(compiler, block, index, &offset)));
  member["offset"] = offset;
  size_t size = 0;
  RETURN_IF_ERROR(
      module_.Check(spvc_compiler_get_declared_struct_member_size(compiler, block, index, &size)));
  member["size"] = size;
  unsigned stride = 0;
  if (member.contains("array")) {
    RETURN_IF_ERROR(module_.Check(
        spvc_compiler_type_struct_member_array_stride(compiler, block, index, &stride)));
    member["array_stride"] = stride;
  }
  const spvc_type type =
      spvc_compiler_get_type_handle(compiler, spvc_type_get_member_type(block, index));
  if (spvc_type_get_columns(type) > 1) {
    RETURN_IF_ERROR(module_.Check(
        spvc_compiler_type_struct_member_matrix_stride(compiler, block, index, &stride)));
    member["matrix_stride"] = stride;
    member["row_major"] =
        spvc_compiler_has_member_decoration(compiler, spvc_type_get_base_type_id(block), index,
                                            SpvDecorationRowMajor) != SPVC_FALSE;
  }
  return absl::OkStatus();
}

Json TypeReflector::Image(uint32_t type_id) const {
  const spvc_type type = spvc_compiler_get_type_handle(module_.compiler(), type_id);
  const spvc_type sampled =
      spvc_compiler_get_type_handle(module_.compiler(), spvc_type_get_image_sampled_type(type));
  Json image = Json::object();
  image["dim"] = DimensionName(spvc_type_get_image_dimension(type));
  image["arrayed"] = spvc_type_get_image_arrayed(type) != SPVC_FALSE;
  image["multisampled"] = spvc_type_get_image_multisampled(type) != SPVC_FALSE;
  image["depth"] = spvc_type_get_image_is_depth(type) != SPVC_FALSE;
  image["sampled"] = NumericName(sampled);
  const std::string format = ImageFormatName(spvc_type_get_image_storage_format(type));
  if (!format.empty()) image["format"] = format;
  return image;
}

}  // namespace galley::worker
