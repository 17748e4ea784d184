// HttpClient: a client on a blocking socket of loopback, which sends exactly the bytes that a test
// gives. Waits are bounded (WaitLimit).
// Threads: one.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/file.h"

namespace galley::director {

struct HttpResponse {
  int status = 0;    // 0: the connection ended before
  std::string head;  // with the status line and the empty line
  std::string body;  // without its framing
  // False: the connection ended within the body.
  bool is_whole = false;

  // The value of the first field of that name; nullopt: there is none.
  std::optional<std::string> ValueOf(std::string_view name) const;
};

class HttpClient {
 public:
  struct Options {
    bool has_tls = false;    // the server's certificate is not checked
    bool handshakes = true;  // with TLS; false: stays silent
  };
  explicit HttpClient(uint16_t port) : HttpClient(port, Options{}) {}
  HttpClient(uint16_t port, const Options& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void Send(std::string_view bytes);
  // Reads one response. `has_body`: false after HEAD.
  HttpResponse Read(bool has_body = true);
  // Sends "GET <path>" with the fields, lines that end with "\r\n", and reads the response.
  HttpResponse Get(std::string_view path, std::string_view fields = "");
  // Everything up to `end`, or up to the end of the connection.
  std::string ReadUntil(std::string_view end);
  // Whether the server has ended the connection, once what was there is read.
  bool IsAtEnd() { return ReadUntil("").empty() && has_ended_; }
  void FinishSending();
  void Close();
  // The server's certificate, as DER.
  std::string Certificate() const;

 private:
  template <auto free>
  struct Freed {
    template <typename T>
    void operator()(T* object) const {
      free(object);
    }
  };

  // False: the connection has ended.
  bool Receive();
  std::string Take(size_t bytes);
  std::string ReadChunks();

  FileDescriptor socket_;
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<SSL_free>> session_;
  std::string input_;
  bool has_ended_ = false;
};

// "GET <path> HTTP/1.1" with a Host and the fields.
std::string GetText(std::string_view path, std::string_view fields = "");

}  // namespace galley::director
