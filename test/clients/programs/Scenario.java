package org.openapitools.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.api.CandidatesApi;
import org.openapitools.client.api.DocumentsApi;
import org.openapitools.client.api.LimitsApi;
import org.openapitools.client.model.Candidate;
import org.openapitools.client.model.CandidateInput;
import org.openapitools.client.model.CandidateRow;
import org.openapitools.client.model.Document;
import org.openapitools.client.model.DocumentInput;
import org.openapitools.client.model.Problem;

/** Uses the client that openapi-generator makes for Java, and prints what it saw as JSON. */
public class Scenario {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    client.setBearerToken(System.getenv("API_KEY"));
    CandidatesApi candidates = new CandidatesApi(client);
    DocumentsApi documents = new DocumentsApi(client);

    Candidate candidate = candidates.createCandidate(new CandidateInput().externalId("java-1"), null, null, null, "java-1", null);
    Document document = documents.addDocument(candidate.getId(), new DocumentInput().name("Passport"), null, null, null);

    File file = new File(System.getenv("FILE"));
    documents.putDocumentContent(candidate.getId(), document.getId(), file, null, null, null);
    File read = documents.readDocumentContent(candidate.getId(), document.getId(), null, null, null, null);

    List<String> rows = new ArrayList<>();
    List<String> deleted = new ArrayList<>();
    for (CandidateRow row : candidates.listCandidates(null, null, null, null, null, null, null, null).getData()) {
      (row.getDeleted() == null ? rows : deleted).add(row.getId());
    }

    ObjectMapper json = new ObjectMapper();
    String problem = "there is no error";
    try {
      candidates.readCandidate("cand_none", null, null);
    } catch (ApiException refused) {
      problem = refused.getCode() + " " + json.readValue(refused.getResponseBody(), Problem.class).getCode().getValue();
    }

    Map<String, Object> seen = new LinkedHashMap<>();
    seen.put("candidate", candidate.getId());
    seen.put("state", candidate.getState().getValue());
    seen.put("same", Files.mismatch(file.toPath(), Path.of(read.getPath())) == -1);
    seen.put("rows", rows);
    seen.put("deleted", deleted);
    seen.put("surfaces", new LimitsApi(client).readLimits(null, null).getSurfaces().size());
    seen.put("problem", problem);
    System.out.println(json.writeValueAsString(seen));
  }
}
