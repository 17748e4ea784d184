#include "worker/cookers/mesh/property_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "worker/cookers/mesh/extensions.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr size_t kAnyLength = 0;

enum class Type { kText, kBool, kNumber, kNumbers, kObject, kCode };

// The values that are allowed, in words.
using Words = std::initializer_list<const char*>;
constexpr Words kAlphaModes = {"OPAQUE", "MASK", "BLEND"};
constexpr Words kCameraTypes = {"perspective", "orthographic"};
constexpr Words kLightTypes = {"directional", "point", "spot"};
// OpenGL's numbers for the values of a sampler.
constexpr Words kMagFilters = {"9728", "9729"};
constexpr Words kMinFilters = {"9728", "9729", "9984", "9985", "9986", "9987"};
constexpr Words kWraps = {"33071", "33648", "10497"};

struct Rule {
  const char* place;  // the object's place
  const char* key;
  Type type;
  size_t length = kAnyLength;  // for kNumbers
  double min = -kAny;
  double max = kAny;
  bool is_above_min = false;  // `min` itself is not allowed
  Words allowed = {};         // for kText and kCode; empty: any value
};

constexpr const char* kPbr = "materials/*/pbrMetallicRoughness";
constexpr const char* kGlossiness = "materials/*/extensions/KHR_materials_pbrSpecularGlossiness";
constexpr const char* kSheen = "materials/*/extensions/KHR_materials_sheen";
constexpr const char* kSpecular = "materials/*/extensions/KHR_materials_specular";
constexpr const char* kVolume = "materials/*/extensions/KHR_materials_volume";
constexpr const char* kClearcoat = "materials/*/extensions/KHR_materials_clearcoat";
constexpr const char* kIridescence = "materials/*/extensions/KHR_materials_iridescence";
constexpr const char* kAnisotropy = "materials/*/extensions/KHR_materials_anisotropy";
constexpr const char* kDiffuse = "materials/*/extensions/KHR_materials_diffuse_transmission";
constexpr const char* kClearcoatNormal =
    "materials/*/extensions/KHR_materials_clearcoat/clearcoatNormalTexture";
constexpr const char* kTextureTransform = "materials/*/**/KHR_texture_transform";
constexpr const char* kMapping =
    "meshes/*/primitives/*/extensions/KHR_materials_variants/mappings/*";
constexpr const char* kLight = "extensions/KHR_lights_punctual/lights/*";
constexpr const char* kSpot = "extensions/KHR_lights_punctual/lights/*/spot";
constexpr double kHalfPi = 1.5707963267948966;

// The rules of glTF 2.0, chapter 5, and of the extensions' own chapters on JSON.
constexpr Rule kRules[] = {
    {"*/*", "name", Type::kText},
    {"asset", "copyright", Type::kText},
    {"nodes/*", "matrix", Type::kNumbers, 16},
    {"nodes/*", "translation", Type::kNumbers, 3},
    {"nodes/*", "rotation", Type::kNumbers, 4, -1, 1},
    {"nodes/*", "scale", Type::kNumbers, 3},
    {"nodes/*", "weights", Type::kNumbers},
    {"nodes/*/extensions/KHR_node_visibility", "visible", Type::kBool},
    {"meshes/*", "weights", Type::kNumbers},
    {"samplers/*", "magFilter", Type::kCode, 0, -kAny, kAny, false, kMagFilters},
    {"samplers/*", "minFilter", Type::kCode, 0, -kAny, kAny, false, kMinFilters},
    {"samplers/*", "wrapS", Type::kCode, 0, -kAny, kAny, false, kWraps},
    {"samplers/*", "wrapT", Type::kCode, 0, -kAny, kAny, false, kWraps},
    {"materials/*", "pbrMetallicRoughness", Type::kObject},
    {"materials/*", "emissiveFactor", Type::kNumbers, 3, 0, 1},
    {"materials/*", "alphaMode", Type::kText, 0, -kAny, kAny, false, kAlphaModes},
    {"materials/*", "alphaCutoff", Type::kNumber, 0, 0},
    {"materials/*", "doubleSided", Type::kBool},
    {"materials/*/normalTexture", "scale", Type::kNumber},
    {"materials/*/occlusionTexture", "strength", Type::kNumber, 0, 0, 1},
    {kPbr, "baseColorFactor", Type::kNumbers, 4, 0, 1},
    {kPbr, "metallicFactor", Type::kNumber, 0, 0, 1},
    {kPbr, "roughnessFactor", Type::kNumber, 0, 0, 1},
    {kGlossiness, "diffuseFactor", Type::kNumbers, 4, 0, 1},
    {kGlossiness, "specularFactor", Type::kNumbers, 3, 0, 1},
    {kGlossiness, "glossinessFactor", Type::kNumber, 0, 0, 1},
    {kSheen, "sheenColorFactor", Type::kNumbers, 3, 0, 1},
    {kSheen, "sheenRoughnessFactor", Type::kNumber, 0, 0, 1},
    {kSpecular, "specularFactor", Type::kNumber, 0, 0, 1},
    {kSpecular, "specularColorFactor", Type::kNumbers, 3, 0},
    {kVolume, "thicknessFactor", Type::kNumber, 0, 0},
    {kVolume, "attenuationDistance", Type::kNumber, 0, 0, kAny, true},
    {kVolume, "attenuationColor", Type::kNumbers, 3, 0, 1},
    {kClearcoat, "clearcoatFactor", Type::kNumber, 0, 0, 1},
    {kClearcoat, "clearcoatRoughnessFactor", Type::kNumber, 0, 0, 1},
    {kClearcoatNormal, "scale", Type::kNumber},
    {kTextureTransform, "offset", Type::kNumbers, 2},
    {kTextureTransform, "rotation", Type::kNumber},
    {kTextureTransform, "scale", Type::kNumbers, 2},
    {kIridescence, "iridescenceFactor", Type::kNumber, 0, 0, 1},
    {kIridescence, "iridescenceIor", Type::kNumber, 0, 1},
    {kIridescence, "iridescenceThicknessMinimum", Type::kNumber, 0, 0},
    {kIridescence, "iridescenceThicknessMaximum", Type::kNumber, 0, 0},
    {kAnisotropy, "anisotropyStrength", Type::kNumber, 0, 0, 1},
    {kAnisotropy, "anisotropyRotation", Type::kNumber},
    {kDiffuse, "diffuseTransmissionFactor", Type::kNumber, 0, 0, 1},
    {kDiffuse, "diffuseTransmissionColorFactor", Type::kNumbers, 3, 0, 1},
    {"materials/*/extensions/KHR_materials_dispersion", "dispersion", Type::kNumber, 0, 0},
    {"materials/*/extensions/KHR_materials_emissive_strength", "emissiveStrength", Type::kNumber, 0,
     0},
    {"materials/*/extensions/KHR_materials_ior", "ior", Type::kNumber, 0, 0},
    {"materials/*/extensions/KHR_materials_transmission", "transmissionFactor", Type::kNumber, 0, 0,
     1},
    {"cameras/*", "type", Type::kText, 0, -kAny, kAny, false, kCameraTypes},
    {"cameras/*", "perspective", Type::kObject},
    {"cameras/*", "orthographic", Type::kObject},
    {"cameras/*/perspective", "aspectRatio", Type::kNumber, 0, 0, kAny, true},
    {"cameras/*/perspective", "yfov", Type::kNumber, 0, 0, kAny, true},
    {"cameras/*/perspective", "znear", Type::kNumber, 0, 0, kAny, true},
    {"cameras/*/perspective", "zfar", Type::kNumber, 0, 0, kAny, true},
    {"cameras/*/orthographic", "xmag", Type::kNumber},
    {"cameras/*/orthographic", "ymag", Type::kNumber},
    {"cameras/*/orthographic", "znear", Type::kNumber, 0, 0},
    {"cameras/*/orthographic", "zfar", Type::kNumber, 0, 0, kAny, true},
    {kLight, "name", Type::kText},
    {kLight, "type", Type::kText, 0, -kAny, kAny, false, kLightTypes},
    {kLight, "color", Type::kNumbers, 3, 0, 1},
    {kLight, "intensity", Type::kNumber, 0, 0},
    {kLight, "range", Type::kNumber, 0, 0, kAny, true},
    {kLight, "spot", Type::kObject},
    {kSpot, "innerConeAngle", Type::kNumber, 0, 0, kHalfPi},
    {kSpot, "outerConeAngle", Type::kNumber, 0, 0, kHalfPi, true},
    {"extensions/KHR_materials_variants/variants/*", "name", Type::kText},
    {kMapping, "name", Type::kText},
};

struct Required {
  const char* place;
  const char* key;
};
constexpr Required kRequired[] = {
    {"cameras/*", "type"},
    {"cameras/*/perspective", "yfov"},
    {"cameras/*/perspective", "znear"},
    {"cameras/*/orthographic", "xmag"},
    {"cameras/*/orthographic", "ymag"},
    {"cameras/*/orthographic", "zfar"},
    {"cameras/*/orthographic", "znear"},
    {"nodes/*/extensions/KHR_lights_punctual", "light"},
    {kLight, "type"},
    {"extensions/KHR_materials_variants/variants/*", "name"},
    {"meshes/*/primitives/*/extensions/KHR_materials_variants", "mappings"},
    {kMapping, "material"},
    {kMapping, "variants"},
};

using Visitor = std::function<void(Json& object, const std::string& pointer)>;

// Calls `visit` for every object that `pattern` leads to. "*" is each element of an array, or, as
// the first part, each member of the file; "**" is the object and all objects within it. Values
// without such a place are passed over.
void VisitObjects(Json& value, std::string_view pattern, const std::string& pointer,
                  const Visitor& visit) {
  if (pattern.empty()) {
    if (value.is_object()) visit(value, pointer);
    return;
  }
  const size_t slash = pattern.find('/');
  const std::string_view head = pattern.substr(0, slash);
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  if (head == "**") {
    VisitObjects(value, rest, pointer, visit);
    if (!value.is_object()) return;
    for (const auto& item : value.items()) {
      if (item.value().is_object() && !IsAuthorsOwn(item.key()))
        VisitObjects(item.value(), pattern, fmt::format("{}/{}", pointer, item.key()), visit);
    }
  } else if (head != "*") {
    if (Json* member = Member(value, head); member != nullptr)
      VisitObjects(*member, rest, fmt::format("{}/{}", pointer, head), visit);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      VisitObjects(value[i], rest, fmt::format("{}/{}", pointer, i), visit);
  } else if (value.is_object() && pointer.empty()) {
    for (const auto& item : value.items()) {
      if (item.value().is_array() && !IsAuthorsOwn(item.key()))
        VisitObjects(item.value(), rest, "/" + item.key(), visit);
    }
  }
}

struct Finding {
  std::string_view code;
  std::string text;
};

bool IsInRange(const Rule& rule, double value) {
  return value <= rule.max && (rule.is_above_min ? value > rule.min : value >= rule.min);
}

std::string RangeText(const Rule& rule) {
  const std::string least =
      fmt::format("{} {}", rule.is_above_min ? "above" : "of at least", rule.min);
  if (rule.max == kAny) return least;
  if (rule.is_above_min) return fmt::format("{} and of at most {}", least, rule.max);
  return fmt::format("from {} to {}", rule.min, rule.max);
}

// The integer as text, also for 9729.0; nullopt: the value is no integer.
std::optional<std::string> CodeOf(const Json& value) {
  constexpr double kMost = 1 << 30;
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (std::abs(number) > kMost || number != std::trunc(number)) return std::nullopt;
  return fmt::format("{}", static_cast<int64_t>(number));
}

std::optional<Finding> CheckType(const Rule& rule, const Json& value) {
  const auto expect = [&](bool is_right, std::string_view what) -> std::optional<Finding> {
    if (is_right) return std::nullopt;
    return Finding{"TYPE_MISMATCH", fmt::format("expected {}", what)};
  };
  switch (rule.type) {
    case Type::kText:
      return expect(value.is_string(), "a string");
    case Type::kBool:
      return expect(value.is_boolean(), "true or false");
    case Type::kNumber:
      return expect(value.is_number(), "a number");
    case Type::kObject:
      return expect(value.is_object(), "an object");
    case Type::kCode:
      return expect(CodeOf(value).has_value(), "an integer");
    case Type::kNumbers:
      break;
  }
  if (!value.is_array()) return expect(false, "an array of numbers");
  if (rule.length != kAnyLength && value.size() != rule.length) {
    return Finding{"ARRAY_LENGTH_NOT_IN_LIST", fmt::format("expected {} numbers", rule.length)};
  }
  for (const Json& element : value) {
    if (!element.is_number()) return Finding{"ARRAY_TYPE_MISMATCH", "expected numbers only"};
  }
  return std::nullopt;
}

// REQUIRES: the value has the rule's type.
std::optional<Finding> CheckRange(const Rule& rule, const Json& value) {
  const auto is_wrong = [&](const Json& number) { return !IsInRange(rule, number.get<double>()); };
  bool is_found = rule.type == Type::kNumber && is_wrong(value);
  if (rule.type == Type::kNumbers) {
    for (const Json& number : value) is_found = is_found || is_wrong(number);
  }
  if (!is_found) return std::nullopt;
  return Finding{"VALUE_NOT_IN_RANGE",
                 fmt::format("expected {} {}", rule.type == Type::kNumber ? "a number" : "numbers",
                             RangeText(rule))};
}

// REQUIRES: the value has the rule's type.
std::optional<Finding> CheckList(const Rule& rule, const Json& value) {
  if (rule.allowed.size() == 0) return std::nullopt;
  const std::string text = rule.type == Type::kCode ? *CodeOf(value) : value.get<std::string>();
  if (std::ranges::find(rule.allowed, text) != rule.allowed.end()) return std::nullopt;
  return Finding{"VALUE_NOT_IN_LIST", fmt::format("expected one of {}, not {}",
                                                  fmt::join(rule.allowed, ", "), value.dump())};
}

void ApplyRule(const Rule& rule, Json& object, const std::string& pointer, Warnings& warnings) {
  const Json* value = Member(object, rule.key);
  if (value == nullptr) return;
  if (const std::optional<Finding> type = CheckType(rule, *value)) {
    object.erase(rule.key);
    warnings.AddRepair("{}/{}: {}; the value is left out ({})", pointer, rule.key, type->text,
                       type->code);
    return;
  }
  std::optional<Finding> wrong = CheckRange(rule, *value);
  if (!wrong) wrong = CheckList(rule, *value);
  if (wrong) {
    warnings.Add("{}/{}: {}; the value stays as it is ({})", pointer, rule.key, wrong->text,
                 wrong->code);
  }
}

double NumberOf(const Json& object, const char* key, double otherwise) {
  const Json* member = Member(object, key);
  return member != nullptr && member->is_number() ? member->get<double>() : otherwise;
}

void CheckCamera(const Json& camera, const std::string& pointer, Warnings& warnings) {
  const Json* perspective = Member(camera, "perspective");
  const Json* orthographic = Member(camera, "orthographic");
  if ((perspective == nullptr) == (orthographic == nullptr)) {
    warnings.Add(
        "{}: expected either perspective or orthographic; the camera stays as it is "
        "(ONE_OF_MISMATCH)",
        pointer);
  }
  for (const Json* kind : {perspective, orthographic}) {
    if (kind == nullptr) continue;
    if (NumberOf(*kind, "zfar", kAny) <= NumberOf(*kind, "znear", -kAny)) {
      warnings.Add(
          "{}: zfar is not greater than znear; the camera stays as it is "
          "(CAMERA_ZFAR_LEQUAL_ZNEAR)",
          pointer);
    }
  }
  if (orthographic == nullptr) return;
  if (NumberOf(*orthographic, "xmag", 1) == 0 || NumberOf(*orthographic, "ymag", 1) == 0) {
    warnings.Add(
        "{}: xmag and ymag must not be 0; the camera stays as it is (CAMERA_XMAG_YMAG_ZERO)",
        pointer);
  }
}

void CheckLight(const Json& light, const std::string& pointer, Warnings& warnings) {
  constexpr double kOuterDefault = kHalfPi / 2;
  const Json* type = Member(light, "type");
  const Json* spot = Member(light, "spot");
  if (spot == nullptr) {
    if (type != nullptr && *type == "spot") {
      warnings.Add(
          "{}: a light of type spot needs a member spot; the light stays as it is "
          "(UNDEFINED_PROPERTY)",
          pointer);
    }
    return;
  }
  if (NumberOf(*spot, "outerConeAngle", kOuterDefault) <= NumberOf(*spot, "innerConeAngle", 0)) {
    warnings.Add(
        "{}/spot: the outer angle is not greater than the inner one; the light stays as it is "
        "(KHR_LIGHTS_PUNCTUAL_LIGHT_SPOT_ANGLES)",
        pointer);
  }
}

// Warns of an index of refraction between 0, which stands for an infinite one, and 1.
void CheckRefraction(const Json& material, const std::string& pointer, Warnings& warnings) {
  const Json* own = Extension(material, "KHR_materials_ior");
  const double ior = own == nullptr ? 1 : NumberOf(*own, "ior", 1);
  if (!(ior > 0 && ior < 1)) return;
  warnings.Add(
      "{}/extensions/KHR_materials_ior/ior: expected 0, or a number of at least 1; the value stays "
      "as it is (VALUE_NOT_IN_RANGE)",
      pointer);
}

// Warns of a variant that two mappings of a primitive give a material.
void CheckVariants(const Json& primitive, const std::string& pointer, Warnings& warnings) {
  const Json* own = Extension(primitive, "KHR_materials_variants");
  const Json* mappings = own == nullptr ? nullptr : Array(*own, "mappings");
  if (mappings == nullptr) return;
  std::set<Json> seen;
  for (const Json& mapping : *mappings) {
    const Json* variants = Array(mapping, "variants");
    if (variants == nullptr) continue;
    for (const Json& variant : *variants) {
      if (seen.insert(variant).second) continue;
      warnings.Add(
          "{}: a variant is mapped to a material twice; the mappings stay as they are "
          "(KHR_MATERIALS_VARIANTS_NON_UNIQUE_VARIANT)",
          pointer);
      return;
    }
  }
}

}  // namespace

void DropEmptyArrays(Json& json) {
  if (json.is_array()) {
    for (Json& element : json) DropEmptyArrays(element);
    return;
  }
  if (!json.is_object()) return;
  for (auto item = json.begin(); item != json.end();) {
    if (IsAuthorsOwn(item.key())) {
      ++item;
    } else if (item.value().is_array() && item.value().empty()) {
      item = json.erase(item);
    } else {
      DropEmptyArrays(item.value());
      ++item;
    }
  }
}

void RepairProperties(Json& json, Warnings& warnings) {
  for (const Rule& rule : kRules) {
    VisitObjects(json, rule.place, "", [&](Json& object, const std::string& pointer) {
      ApplyRule(rule, object, pointer, warnings);
    });
  }
  for (const Required& required : kRequired) {
    VisitObjects(json, required.place, "", [&](const Json& object, const std::string& pointer) {
      if (Member(object, required.key) != nullptr) return;
      warnings.Add("{}: no member \"{}\" (UNDEFINED_PROPERTY)", pointer, required.key);
    });
  }
}

void CheckParameters(const Json& json, Warnings& warnings) {
  for (size_t i = 0; i < ArraySize(json, "cameras"); ++i)
    CheckCamera(json["cameras"][i], fmt::format("/cameras/{}", i), warnings);
  for (size_t i = 0; i < ArraySize(json, "materials"); ++i)
    CheckRefraction(json["materials"][i], fmt::format("/materials/{}", i), warnings);
  for (size_t i = 0; i < ArraySize(json, "meshes"); ++i) {
    const Json& mesh = json["meshes"][i];
    for (size_t k = 0; k < ArraySize(mesh, "primitives"); ++k)
      CheckVariants(mesh["primitives"][k], fmt::format("/meshes/{}/primitives/{}", i, k), warnings);
  }
  const Json* lights = Extension(json, "KHR_lights_punctual");
  if (lights == nullptr) return;
  for (size_t i = 0; i < ArraySize(*lights, "lights"); ++i) {
    CheckLight((*lights)["lights"][i], fmt::format("/extensions/KHR_lights_punctual/lights/{}", i),
               warnings);
  }
}

}  // namespace galley::worker::mesh
