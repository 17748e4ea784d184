#include "worker/cookers/mesh/textures.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/extensions.h"
#include "worker/cookers/mesh/image_source.h"

namespace galley::worker::mesh {
namespace {

constexpr std::string_view kSuffix = "Texture";
constexpr const char* kTransform = "KHR_texture_transform";
constexpr uint64_t kTexcoordMax = 1'000'000;

bool IsTextureInfo(std::string_view key) {
  return key.ends_with(kSuffix) && key.size() > kSuffix.size();
}

// The set of texture coordinates; KHR_texture_transform's texCoord goes before the texture's own.
absl::StatusOr<uint64_t> TexcoordOf(const Json& info, const std::string& pointer) {
  ASSIGN_OR_RETURN(const uint64_t own, NumberOr(info, "texCoord", 0, kTexcoordMax, pointer));
  const Json* transform = Extension(info, kTransform);
  if (transform == nullptr) return own;
  return NumberOr(*transform, "texCoord", own, kTexcoordMax, pointer + "/extensions/" + kTransform);
}

// The use of the images in a slot; it decides how they are cooked.
ImageUse UseOfSlot(std::string_view slot) {
  static const std::set<std::string, std::less<>> colors = {
      "baseColor",  "diffuse",       "diffuseTransmissionColor", "emissive",
      "sheenColor", "specularColor", "specularGlossiness"};
  if (colors.contains(slot)) return ImageUse::kColor;
  const bool is_normal = slot == "normal" || slot.ends_with("Normal");
  return is_normal ? ImageUse::kNormal : ImageUse::kData;
}

class TextureTaker {
 public:
  explicit TextureTaker(Document& document) : document_(document), json_(document.json) {}

  absl::StatusOr<TakenTextures> TakeAll();

 private:
  // A texture info with its place and its slot.
  struct Info {
    Json value;
    std::string slot;
    std::string pointer;
    size_t image = 0;
  };
  absl::Status Collect(Json& object, const std::string& pointer, std::vector<Info>& infos);
  absl::StatusOr<std::optional<size_t>> ImageOf(const Info& info);
  absl::Status TakeMaterial(size_t index);
  absl::StatusOr<Json> SlotOf(const Info& info);
  void PutSlots(Json& material, Json slots, const std::string& pointer);
  absl::StatusOr<std::string> NameOf(size_t image, ImageUse use);

  Document& document_;
  Json& json_;
  TakenTextures taken_;
  std::set<std::string> referenced_;
  std::set<std::string> names_;  // names of generated images, folded
  std::map<std::pair<size_t, ImageUse>, std::string> named_;
};

absl::Status TextureTaker::Collect(Json& object, const std::string& pointer,
                                   std::vector<Info>& infos) {
  for (auto item = object.begin(); item != object.end();) {
    const std::string place = pointer + "/" + item.key();
    if (IsTextureInfo(item.key())) {
      if (Member(item.value(), "index") == nullptr)
        return Flaw(place, "expected an object with the index of a texture");
      std::string slot = item.key().substr(0, item.key().size() - kSuffix.size());
      infos.push_back(
          {.value = std::move(item.value()), .slot = std::move(slot), .pointer = place});
      item = object.erase(item);
      continue;
    }
    if (!IsAuthorsOwn(item.key()) && item.value().is_object())
      RETURN_IF_ERROR(Collect(item.value(), place, infos));
    ++item;
  }
  return absl::OkStatus();
}

// nullopt: the texture names no image, which is allowed and shows nothing.
absl::StatusOr<std::optional<size_t>> TextureTaker::ImageOf(const Info& info) {
  const size_t count = ArraySize(json_, "textures");
  ASSIGN_OR_RETURN(const uint64_t index,
                   NumberOr(info.value, "index", 0, UINT32_MAX, info.pointer));
  if (index >= count) {
    return Flaw(info.pointer + "/index",
                fmt::format("{} is out of range: /textures has {}", index, count));
  }
  const Json& texture = json_["textures"][index];
  if (const Json* source = Member(texture, "source")) return source->get<size_t>();
  const Json* extensions = Member(texture, "extensions");
  if (extensions == nullptr || !extensions->is_object()) return std::nullopt;
  for (const auto& item : extensions->items()) {
    const std::string place = fmt::format("/textures/{}/extensions/{}", index, item.key());
    if (Member(item.value(), "source") == nullptr) continue;
    ASSIGN_OR_RETURN(const uint64_t image, NumberOr(item.value(), "source", 0, UINT32_MAX, place));
    if (image >= ArraySize(json_, "images")) return Flaw(place + "/source", "no such image");
    return image;
  }
  return std::nullopt;
}

absl::StatusOr<std::string> TextureTaker::NameOf(size_t image, ImageUse use) {
  if (const auto known = named_.find({image, use}); known != named_.end()) return known->second;
  ASSIGN_OR_RETURN(ImageSource source, ReadImage(document_, image));
  std::string name;
  if (source.is_external) {
    name = source.path;
    taken_.files.emplace(name, use);
    if (referenced_.insert(name).second) taken_.references.push_back(name);
  } else {
    const auto of_image = named_.lower_bound({image, ImageUse::kColor});  // the first use by value
    const bool is_first = of_image == named_.end() || of_image->first.first != image;
    name = GeneratedName(document_, image, source.extension, is_first ? "" : UseName(use), names_);
    taken_.references.push_back(name);
    taken_.generated.push_back({.name = name,
                                .bytes = std::move(source.bytes),
                                .cooker = source.cooker,
                                .settings_json = SettingsOf(source, use)});
  }
  named_[{image, use}] = name;
  return name;
}

absl::StatusOr<Json> TextureTaker::SlotOf(const Info& info) {
  Json slot = info.value;
  slot.erase("index");
  slot.erase("texCoord");
  ASSIGN_OR_RETURN(slot["texcoord"], TexcoordOf(info.value, info.pointer));
  if (const Json* transform = Extension(info.value, kTransform)) {
    Json kept = *transform;
    if (kept.is_object()) kept.erase("texCoord");
    if (!kept.empty()) slot["transform"] = std::move(kept);
  }
  slot.erase("extensions");
  const Json& texture = json_["textures"][info.value["index"].get<size_t>()];
  if (const Json* sampler = Member(texture, "sampler"); sampler != nullptr)
    slot["sampler"] = json_["samplers"][sampler->get<size_t>()];
  ASSIGN_OR_RETURN(slot["texture"], NameOf(info.image, UseOfSlot(info.slot)));
  return slot;
}

void TextureTaker::PutSlots(Json& material, Json slots, const std::string& pointer) {
  Json& extras = material["extras"];
  if (!extras.is_object()) {
    if (!extras.is_null()) {
      document_.warnings.Add("{}/extras: is no object; it is kept as its member \"source\"",
                             pointer);
      extras = Json{{"source", extras}};
    } else {
      extras = Json::object();
    }
  }
  Json& galley = extras["galley"];
  if (!galley.is_object()) galley = Json::object();
  galley.update(slots);
}

absl::Status TextureTaker::TakeMaterial(size_t index) {
  const std::string pointer = fmt::format("/materials/{}", index);
  Json& material = json_["materials"][index];
  std::vector<Info> infos;
  RETURN_IF_ERROR(Collect(material, pointer, infos));
  Json slots = Json::object();
  for (Info& info : infos) {
    ASSIGN_OR_RETURN(const std::optional<size_t> image, ImageOf(info));
    if (!image) {
      document_.warnings.Add("{}: the texture names no image and is left out", info.pointer);
      continue;
    }
    info.image = *image;
    ASSIGN_OR_RETURN(slots[info.slot], SlotOf(info));
  }
  taken_.normal_map_texcoords.push_back(kNoNormalMap);
  taken_.texcoords.emplace_back();
  for (const auto& slot : slots.items()) {
    if (UseOfSlot(slot.key()) != ImageUse::kNormal)
      taken_.texcoords.back().insert(slot.value()["texcoord"].get<uint64_t>());
  }
  for (const char* slot : {"clearcoatNormal", "normal"}) {  // the last name goes before
    if (const Json* normal = Member(slots, slot); normal != nullptr)
      taken_.normal_map_texcoords.back() = (*normal)["texcoord"].get<uint64_t>();
  }
  if (!slots.empty()) PutSlots(material, std::move(slots), pointer);
  return absl::OkStatus();
}

absl::StatusOr<TakenTextures> TextureTaker::TakeAll() {
  for (size_t i = 0; i < ArraySize(json_, "materials"); ++i) RETURN_IF_ERROR(TakeMaterial(i));
  for (const char* name : {"images", "textures", "samplers"}) json_.erase(name);
  return std::move(taken_);
}

}  // namespace

absl::StatusOr<TakenTextures> TakeTextures(Document& document) {
  return TextureTaker(document).TakeAll();
}

}  // namespace galley::worker::mesh
