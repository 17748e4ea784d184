#include "director/serve/device_face/content_type.h"

#include <algorithm>
#include <iterator>

#include "common/http/field_syntax.h"

namespace galley::director {
namespace {

struct Row {
  std::string_view end;
  ContentType type;
};

// The outputs of our cookers, and files that projects copy.
// Source: IANA media types; KTX 2.0, 10; glTF 2.0, 2.6; RFC 5334, 8081, 8949.
constexpr Row kRows[] = {
    {".bin", {"application/octet-stream", true}},
    {".bmp", {"image/bmp", true}},
    {".cbor", {"application/cbor", true}},
    {".css", {"text/css; charset=utf-8", true}},
    {".csv", {"text/csv; charset=utf-8", true}},
    {".essl", {"text/plain; charset=utf-8", true}},
    {".flac", {"audio/flac", false}},
    {".frag", {"text/plain; charset=utf-8", true}},
    {".gif", {"image/gif", false}},
    {".glb", {"model/gltf-binary", true}},
    {".gltf", {"model/gltf+json", true}},
    {".htm", {"text/html; charset=utf-8", true}},
    {".html", {"text/html; charset=utf-8", true}},
    {".jpeg", {"image/jpeg", false}},
    {".jpg", {"image/jpeg", false}},
    {".js", {"text/javascript; charset=utf-8", true}},
    {".json", {"application/json", true}},
    {".ktx2", {"image/ktx2", false}},
    {".lua", {"text/plain; charset=utf-8", true}},
    {".md", {"text/markdown; charset=utf-8", true}},
    {".mp3", {"audio/mpeg", false}},
    {".mp4", {"video/mp4", false}},
    {".msl", {"text/plain; charset=utf-8", true}},
    {".ogg", {"audio/ogg", false}},
    {".opus", {"audio/ogg; codecs=opus", false}},
    {".otf", {"font/otf", true}},
    {".pdf", {"application/pdf", false}},
    {".png", {"image/png", false}},
    {".svg", {"image/svg+xml", true}},
    {".toml", {"application/toml", true}},
    {".ttf", {"font/ttf", true}},
    {".txt", {"text/plain; charset=utf-8", true}},
    {".vert", {"text/plain; charset=utf-8", true}},
    {".wasm", {"application/wasm", true}},
    {".wav", {"audio/wav", true}},
    {".webm", {"video/webm", false}},
    {".webp", {"image/webp", false}},
    {".woff", {"font/woff", false}},
    {".woff2", {"font/woff2", false}},
    {".xml", {"application/xml", true}},
    {".yaml", {"application/yaml", true}},
    {".zip", {"application/zip", false}},
};

}  // namespace

ContentType ContentTypeOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view end = name.substr(dot);
  const Row* const row = std::ranges::find_if(
      kRows, [&](const Row& one) { return http::EqualsIgnoringCase(one.end, end); });
  return row == std::end(kRows) ? ContentType{} : row->type;
}

}  // namespace galley::director
