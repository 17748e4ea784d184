#include "worker/cookers/mesh/image_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/uri.h"

namespace galley::worker::mesh {
namespace {

constexpr size_t kNameBytesMax = 100;

struct ImageKind {
  std::string_view magic;
  std::string_view extension;
  std::string_view cooker;
};
constexpr ImageKind kKinds[] = {
    {"\x89PNG\r\n\x1a\n", "png", "texture"},
    {"\xff\xd8\xff", "jpg", "texture"},
    {"\xabKTX 20\xbb\r\n\x1a\n", "ktx2", "copy"},
    {"DDS ", "dds", "copy"},
};

absl::Status FindKind(ImageSource& source, const std::string& pointer) {
  const auto* found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const ImageKind& kind) {
        return std::string_view(source.bytes).substr(0, kind.magic.size()) == kind.magic;
      });
  if (found == std::end(kKinds)) {
    const bool is_webp = source.bytes.starts_with("RIFF");
    const bool is_avif = std::string_view(source.bytes).substr(0, 12).ends_with("ftypavif");
    return Flaw(pointer,
                fmt::format("the embedded image is {}; expected PNG or JPEG (or KTX2, DDS)",
                            is_webp   ? "WebP"
                            : is_avif ? "AVIF"
                                      : "of an unknown kind"));
  }
  source.extension = found->extension;
  source.cooker = found->cooker;
  return absl::OkStatus();
}

std::string Lowered(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

absl::Status ReadUri(Document& document, const Json& json, ImageSource& source,
                     const std::string& pointer) {
  ASSIGN_OR_RETURN(const std::string uri, TextOr(json, "uri", "", pointer));
  if (IsDataUri(uri)) {
    RETURN_IF_ERROR(document.Take(uri.size(), pointer + "/uri"));
    auto data = ParseDataUri(uri);
    if (!data.ok()) return Annotate(data.status(), pointer + "/uri");
    source.bytes = std::move(data->bytes);
    return absl::OkStatus();
  }
  auto path = PathOfUri(uri);
  if (!path.ok()) return Annotate(path.status(), pointer + "/uri");
  const auto normal = content::NormalizeAsked(*path);
  if (!normal.ok()) return Annotate(normal.status(), pointer + "/uri");
  if (Lowered(*normal).starts_with("_gen/")) {
    return Flaw(pointer + "/uri",
                "a folder _gen beside the source would be taken for generated packages; rename it");
  }
  source.is_external = true;
  source.path = *std::move(path);
  return absl::OkStatus();
}

// The name without folders and without an image's extension, in plain characters.
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, kNameBytesMax))
    plain.push_back(IsAlphanumericOr(c, "_-.") ? c : '_');
  const std::string lowered = Lowered(plain);
  for (const std::string_view extension : {".png", ".jpg", ".jpeg", ".ktx2", ".dds"}) {
    if (!lowered.ends_with(extension)) continue;
    plain.resize(plain.size() - extension.size());
    break;
  }
  if (plain.starts_with('.')) plain.front() = '_';
  return plain;
}

}  // namespace

std::string_view UseName(ImageUse use) {
  switch (use) {
    case ImageUse::kColor:
      return "color";
    case ImageUse::kNormal:
      return "normal";
    case ImageUse::kData:
      return "data";
  }
  return "";
}

absl::StatusOr<ImageSource> ReadImage(Document& document, size_t image) {
  const std::string pointer = fmt::format("/images/{}", image);
  const Json& json = document.json["images"][image];
  ImageSource source;
  if (Member(json, "uri") != nullptr) {
    if (Member(json, "bufferView") != nullptr) {
      document.warnings.Add("{}: has a uri and a bufferView; the uri counts (ONE_OF_MISMATCH)",
                            pointer);
    }
    RETURN_IF_ERROR(ReadUri(document, json, source, pointer));
  } else if (const Json* view = Member(json, "bufferView"); view != nullptr) {
    const BufferView& bytes = document.views[view->get<size_t>()];
    if (document.is_outline && !bytes.has_bytes) {
      source.extension = "png";  // or another format: nobody looks
      source.cooker = "texture";
      return source;
    }
    RETURN_IF_ERROR(document.Take(bytes.bytes.size(), pointer));
    source.bytes = bytes.bytes;
  } else {
    return Flaw(pointer, "expected a uri or a bufferView");
  }
  if (!source.is_external) RETURN_IF_ERROR(FindKind(source, pointer));
  return source;
}

std::string GeneratedName(const Document& document, size_t image, std::string_view extension,
                          std::string_view use, std::set<std::string>& taken) {
  const Json* name = Member(document.json["images"][image], "name");
  std::string stem = name != nullptr && name->is_string()
                         ? PlainName(name->get_ref<const std::string&>())
                         : std::string();
  if (stem.empty()) stem = fmt::format("image_{}", image);
  if (!use.empty()) stem += fmt::format("_{}", use);
  std::string full = fmt::format("_gen/{}.{}", stem, extension);
  while (!taken.insert(Lowered(full)).second) {
    stem += fmt::format("_{}", image);
    full = fmt::format("_gen/{}.{}", stem, extension);
  }
  return full;
}

std::string SettingsOf(const ImageSource& source, ImageUse use) {
  if (source.cooker == "copy") return "{}";
  switch (use) {
    case ImageUse::kColor:
      return R"({"color_space":"srgb","usage":"color"})";
    case ImageUse::kNormal:
      return R"({"usage":"normal"})";
    case ImageUse::kData:
      return R"({"color_space":"linear","usage":"color"})";
  }
  return "{}";
}

}  // namespace galley::worker::mesh
