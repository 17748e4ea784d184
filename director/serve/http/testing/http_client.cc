#include "director/serve/http/testing/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/http/field_syntax.h"
#include "fmt/format.h"

namespace galley::director {

std::optional<std::string> HttpResponse::ValueOf(std::string_view name) const {
  std::string_view rest = head;
  while (!rest.empty()) {
    const size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 2);
    const size_t colon = line.find(':');
    if (colon != line.npos && http::EqualsIgnoringCase(line.substr(0, colon), name))
      return std::string(http::TrimSpace(line.substr(colon + 1)));
  }
  return std::nullopt;
}

std::string GetText(std::string_view path, std::string_view fields) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, fields);
}

HttpClient::HttpClient(uint16_t port, const Options& options)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  GALLEY_CHECK(
      ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  if (!options.has_tls || !options.handshakes) return;
  const WaitLimit limit("the handshake of TLS");
  context_.reset(SSL_CTX_new(TLS_client_method()));
  session_.reset(SSL_new(context_.get()));
  SSL_set_fd(session_.get(), socket_.get());
  has_ended_ = SSL_connect(session_.get()) != 1;
}

HttpClient::~HttpClient() = default;

void HttpClient::Send(std::string_view bytes) {
  const WaitLimit limit("a server that reads");
  while (!bytes.empty()) {
    const ssize_t sent =
        session_ == nullptr
            ? ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)
            : SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (sent <= 0) return;  // Read says that the connection has ended
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

bool HttpClient::Receive() {
  const WaitLimit limit("bytes of the server");
  std::array<char, 64 << 10> bytes;
  const ssize_t received =
      session_ == nullptr ? ::recv(socket_.get(), bytes.data(), bytes.size(), 0)
                          : SSL_read(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
  has_ended_ = received <= 0;
  if (!has_ended_) input_.append(bytes.data(), static_cast<size_t>(received));
  return !has_ended_;
}

std::string HttpClient::ReadUntil(std::string_view end) {
  while (true) {
    const size_t found = end.empty() ? input_.npos : input_.find(end);
    if (found != input_.npos) return Take(found + end.size());
    if (!Receive()) return Take(input_.size());
  }
}

std::string HttpClient::Take(size_t bytes) {
  while (input_.size() < bytes && Receive()) {
  }
  std::string taken = input_.substr(0, bytes);
  input_.erase(0, taken.size());
  return taken;
}

HttpResponse HttpClient::Read(bool has_body) {
  HttpResponse response;
  response.head = ReadUntil("\r\n\r\n");
  if (!response.head.starts_with("HTTP/1.1 ") || !response.head.ends_with("\r\n\r\n"))
    return response;
  std::from_chars(response.head.data() + 9, response.head.data() + 12, response.status);
  response.is_whole = true;
  const auto length = response.ValueOf("content-length");
  if (!has_body || response.status == 304 || response.status == 204) return response;
  if (response.ValueOf("transfer-encoding")) {
    response.body = ReadChunks();
  } else if (length) {
    size_t bytes = 0;
    std::from_chars(length->data(), length->data() + length->size(), bytes);
    response.body = Take(bytes);
    response.is_whole = response.body.size() == bytes;
  } else {
    response.body = ReadUntil("");
  }
  return response;
}

std::string HttpClient::ReadChunks() {
  std::string body;
  while (true) {
    const std::string line = ReadUntil("\r\n");
    size_t bytes = 0;
    std::from_chars(line.data(), line.data() + line.size(), bytes, 16);
    body += Take(bytes);
    if (ReadUntil("\r\n") != "\r\n" || bytes == 0) return body;
  }
}

HttpResponse HttpClient::Get(std::string_view path, std::string_view fields) {
  Send(GetText(path, fields));
  return Read();
}

void HttpClient::FinishSending() { ::shutdown(socket_.get(), SHUT_WR); }

void HttpClient::Close() {
  session_.reset();
  socket_.Reset();
}

std::string HttpClient::Certificate() const {
  X509* const certificate = SSL_get0_peer_certificate(session_.get());
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return text;
}

}  // namespace galley::director
