// Uses the client that openapi-generator makes for Go, and prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	cos "example.com/cos"
)

func main() {
	configuration := cos.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	client := cos.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), cos.ContextAccessToken, os.Getenv("API_KEY"))

	input := cos.NewCandidateInput()
	input.SetExternalId("go-1")
	name := "Passport"
	input.SetDocuments([]cos.DocumentOrName{cos.StringAsDocumentOrName(&name)})
	candidate, _, err := client.CandidatesAPI.CreateCandidate(ctx).CandidateInput(*input).IdempotencyKey("go-1").Execute()
	check(err)
	document := candidate.GetDocuments()[0].GetId()

	upload, err := os.Open(os.Getenv("FILE"))
	check(err)
	_, _, err = client.DocumentsAPI.PutDocumentContent(ctx, candidate.GetId(), document).Body(upload).Execute()
	check(err)
	download, _, err := client.DocumentsAPI.ReadDocumentContent(ctx, candidate.GetId(), document).Execute()
	check(err)
	check(download.Sync())
	read, err := io.ReadAll(download)
	check(err)
	sent, err := os.ReadFile(os.Getenv("FILE"))
	check(err)

	list, _, err := client.CandidatesAPI.ListCandidates(ctx).Execute()
	check(err)
	rows, deleted := []string{}, []string{}
	for _, row := range list.GetData() {
		if row.DeletedCandidate != nil {
			deleted = append(deleted, row.DeletedCandidate.GetId())
		} else {
			rows = append(rows, row.Candidate.GetId())
		}
	}

	limits, _, err := client.LimitsAPI.ReadLimits(ctx).Execute()
	check(err)

	_, response, err := client.CandidatesAPI.ReadCandidate(ctx, "cand_none").Execute()
	var refused *cos.GenericOpenAPIError
	if !errors.As(err, &refused) {
		panic("there is no error")
	}
	problem := refused.Model().(cos.Problem)

	printed, err := json.Marshal(map[string]any{
		"candidate": candidate.GetId(),
		"state":     candidate.GetState(),
		"same":      string(read) == string(sent),
		"rows":      rows,
		"deleted":   deleted,
		"surfaces":  len(limits.GetSurfaces()),
		"problem":   fmt.Sprintf("%d %s", response.StatusCode, problem.GetCode()),
	})
	check(err)
	fmt.Println(string(printed))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
