#include "director/mount/project_net.h"

#include <cstdio>

#include "common/base/file.h"
#include "common/vfs/url.h"

namespace galley::mount {
namespace {

constexpr uint64_t kUrlBytesMax = 4'096;

ProjectNet& Own(void* self) { return *static_cast<ProjectNet*>(self); }

}  // namespace

galley_vfs_net ProjectNet::net() {
  galley_vfs_net net{};
  net.struct_size = sizeof net;
  net.context = this;
  net.connect = &Connect;
  net.send = [](void* self, void* connection, const void* bytes, size_t size, int timeout_ms) {
    const galley_vfs_net& inner = Own(self).inner_;
    return inner.send(inner.context, connection, bytes, size, timeout_ms);
  };
  net.receive = [](void* self, void* connection, void* buffer, size_t size, int timeout_ms) {
    const galley_vfs_net& inner = Own(self).inner_;
    return inner.receive(inner.context, connection, buffer, size, timeout_ms);
  };
  net.close = [](void* self, void* connection) {
    const galley_vfs_net& inner = Own(self).inner_;
    inner.close(inner.context, connection);
  };
  return net;
}

void* ProjectNet::Connect(void* self, const char*, uint16_t, int timeout_ms, char* text,
                          size_t text_size) {
  const auto written = ReadFile(Own(self).url_file_, kUrlBytesMax);
  std::string url_text = written.ok() ? *written : "";
  while (url_text.ends_with('\n')) url_text.pop_back();
  const auto url = vfs::ParseUrl(url_text);
  if (!url) {
    std::snprintf(text, text_size,
                  "no director serves the project's devices (galley serve --http 127.0.0.1:0)");
    return nullptr;
  }
  const galley_vfs_net& inner = Own(self).inner_;
  return inner.connect(inner.context, url->host.c_str(), url->port, timeout_ms, text, text_size);
}

}  // namespace galley::mount
